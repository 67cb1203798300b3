// Show HTML that the server made from Markdown: the same as on phones. What it may contain is decided there.
export default ({ data, parentElement }) => {
  const place = parentElement.querySelector(".rendered");
  if (place.innerHTML !== data) {
    place.innerHTML = data;
  }
};
