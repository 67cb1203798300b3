// theme=light or theme=dark in the address. Streamlit has it as an embed option, and reads it when it starts.
{
  const address = new URL(window.location.href);
  const theme = address.searchParams.get("theme");
  if (theme === "light" || theme === "dark") {
    address.searchParams.set("embed_options", `${theme}_theme`);
    window.history.replaceState(window.history.state, "", address);
  }
}
