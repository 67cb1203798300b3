// Each movie on a page says how high it is; its frame follows.
addEventListener("message", ({ data, source }) => {
  for (const frame of document.querySelectorAll("iframe.movie"))
    if (frame.contentWindow === source && data?.packviz?.height) frame.height = data.packviz.height;
});
