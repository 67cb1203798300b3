export default ({ data, parentElement, setStateValue }) => {
  const input = parentElement.querySelector("input"),
    button = parentElement.querySelector("button");
  input.value = data.link;
  input.onfocus = () => input.select();
  button.onclick = async () => {
    try {
      await navigator.clipboard.writeText(input.value);
    } catch {
      // a page without TLS has no clipboard access, but may copy the selection
      input.select();
      document.execCommand("copy");
    }
    button.textContent = "Copied";
    setTimeout(() => {
      button.textContent = "Copy";
    }, 1500);
  };
  parentElement.known = data.known;
  const look = () => {
    const here = window.location.href;
    if (here !== parentElement.known) setStateValue("url", (parentElement.known = here));
  };
  look();
  clearInterval(parentElement.timer);
  parentElement.timer = setInterval(look, 250);
  return () => clearInterval(parentElement.timer);
};
