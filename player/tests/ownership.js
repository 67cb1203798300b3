// Which files change what belongs to another file: `node ownership.js TOOLS TSCONFIG` prints each such place, and then how
// many files it has read.
//
// What belongs to a file is what its classes and objects hold; whoever holds a plain record of types.d.ts may change that.
// A change is an assignment of any kind, `++`, `delete`, a method that changes a collection or an element, `Object.assign`
// and the like: of a field that another file declares, or of something within it, also under another name.

const [tools, config] = process.argv.slice(2);
const { API } = await import(`${tools}/typescript/dist/api/sync/api.js`);
const { SyntaxKind: Kind } = await import(`${tools}/typescript/dist/ast/index.js`);

const COLLECTION = ["push", "pop", "shift", "unshift", "splice", "sort", "reverse", "fill", "copyWithin"],
  KEYED = ["set", "add", "delete", "clear"],
  ELEMENT = ["setAttribute", "toggleAttribute", "removeAttribute", "replaceChildren", "setProperty", "removeProperty"],
  CHANGES = new Set([...COLLECTION, ...KEYED, ...ELEMENT]),
  GLOBAL =
    /^(Object\.(assign|defineProperty|defineProperties|setPrototypeOf)|Reflect\.(set|defineProperty|deleteProperty))$/;
const ACCESS = [Kind.PropertyAccessExpression, Kind.ElementAccessExpression],
  WRAPPED = [Kind.ParenthesizedExpression, Kind.NonNullExpression, Kind.AsExpression, Kind.SatisfiesExpression];

const api = new API(),
  project = api.updateSnapshot({ openProjects: [config] }).getProject(config),
  { program, checker } = project,
  ours = new Set(project.rootFiles);

/** Whether a symbol is declared in another file of ours, but for files of types. */
const elsewhere = (symbol, file) => {
  const paths = (symbol?.declarations ?? []).map(({ path }) => path);
  return paths.some((path) => ours.has(path)) && !paths.includes(file.fileName);
};
/** The assigned expressions of a pattern such as `{ x: a.b, ...c.d }` or `[a.b = 1]`. */
function targets(node) {
  const inside = {
    [Kind.ObjectLiteralExpression]: () => node.properties,
    [Kind.ArrayLiteralExpression]: () => node.elements,
    [Kind.PropertyAssignment]: () => [node.initializer],
    [Kind.SpreadAssignment]: () => [node.expression],
    [Kind.SpreadElement]: () => [node.expression],
    [Kind.BinaryExpression]: () => [node.left],
  }[node.kind]?.();
  return inside ? inside.flatMap(targets) : [node];
}
/** Whether a change of this expression, or of something within what it stands for, is one of another file's. */
function foreign(node, file, whole = false) {
  if (WRAPPED.includes(node.kind)) return foreign(node.expression, file, whole);
  if (ACCESS.includes(node.kind)) {
    const own = node.expression.kind === Kind.ThisKeyword, // its own, also if a base class declares it
      name = node.name ?? node.argumentExpression;
    return (!own && elsewhere(checker.getSymbolAtLocation(name), file)) || foreign(node.expression, file, true);
  }
  if (node.kind !== Kind.Identifier || !whole) return false;
  const symbol = checker.getSymbolAtLocation(node),
    declared = symbol?.valueDeclaration?.resolve(project);
  if (declared?.kind === Kind.VariableDeclaration) return Boolean(declared.initializer) && aliased(declared, file);
  if (declared?.kind !== Kind.BindingElement) return false;
  const from = checker.getTypeAtLocation(declared.parent),
    field = from && checker.getPropertyOfType(from, (declared.propertyName ?? declared.name).text);
  return elsewhere(field, file);
}
/** Whether a variable stands for a field of another file. */
const aliased = ({ initializer }, file) => ACCESS.includes(initializer.kind) && foreign(initializer, file, true);
/** What a node changes. */
function changed(node) {
  if (node.kind === Kind.BinaryExpression) {
    const { kind } = node.operatorToken;
    return kind >= Kind.FirstAssignment && kind <= Kind.LastAssignment ? targets(node.left) : [];
  }
  if ([Kind.PrefixUnaryExpression, Kind.PostfixUnaryExpression].includes(node.kind))
    return [Kind.PlusPlusToken, Kind.MinusMinusToken].includes(node.operator) ? [node.operand] : [];
  if (node.kind === Kind.DeleteExpression) return [node.expression];
  if ([Kind.ForOfStatement, Kind.ForInStatement].includes(node.kind)) return targets(node.initializer);
  return [];
}
/** Whether a call changes what belongs to another file: by a method of the language or the browser, or by Object.assign. */
function changing({ expression, arguments: given }, file) {
  if (expression.kind !== Kind.PropertyAccessExpression) return false;
  if (GLOBAL.test(expression.getText(file))) {
    const type = checker.getTypeAtLocation(given[0]);
    return foreign(given[0], file, true) || elsewhere(type?.getSymbol?.(), file);
  }
  const ofOurs = checker.getSymbolAtLocation(expression.name)?.declarations.some(({ path }) => ours.has(path));
  return CHANGES.has(expression.name.text) && !ofOurs && foreign(expression.expression, file, true);
}

for (const path of project.rootFiles) {
  const file = program.getSourceFile(path);
  const visit = (node) => {
    const found =
      changed(node).some((each) => foreign(each, file)) || (node.kind === Kind.CallExpression && changing(node, file));
    if (found) console.log(`${path.split("/").at(-1)}: ${node.getText(file).split("\n")[0]}`);
    node.forEachChild(visit);
  };
  visit(file);
}
console.log(project.rootFiles.length);
api.close();
