export default ({ data, parentElement }) => {
  const line = parentElement.querySelector("[role=status]");
  const { text, number } = data,
    before = line.said;
  line.said = JSON.stringify([text, number]);
  if (before === undefined || before === line.said) return;
  line.textContent = ""; // repeating the same words is news, too
  setTimeout(() => {
    line.textContent = text;
  }, 50);
};
