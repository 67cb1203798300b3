export default function ({ data }) {
  const url = new URL(window.location.href),
    before = url.href;
  if (!/\/quiz\/?$/.test(url.pathname)) return;
  const same = Object.entries(data.asked).every(([name, value]) => (url.searchParams.get(name) ?? "") === value);
  for (const [name, value] of Object.entries({ level: data.level, round: data.round })) {
    if (value) url.searchParams.set(name, value);
    else url.searchParams.delete(name);
  }
  if (same && url.href !== before) window.history.replaceState(window.history.state, "", url);

  const kept = document.cookie.split("; ").find((each) => each.startsWith(`${data.cookie}=`)) ?? "";
  const others = kept
    .split("=")
    .pop()
    .split(".")
    .filter((each) => each && !each.startsWith(`${data.name}_`));
  const all = data.kept ? [`${data.name}_${data.kept}`, ...others] : others;
  // biome-ignore lint/suspicious/noDocumentCookie: not every browser has the Cookie Store
  document.cookie = `${data.cookie}=${all.slice(0, data.most).join(".")}; path=/; SameSite=Lax`;
}
