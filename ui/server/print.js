// Tables and charts drawn in pixels for the window are scaled down for paper (style.css); this sets the scale. A dark
// page is printed dark on white. A sheet has the address of its page and the QR code of that, so it leads back.
addEventListener("beforeprint", () => {
  const app = document.querySelector(".stApp");
  document.documentElement.toggleAttribute("data-dark", Boolean(app) && getComputedStyle(app).colorScheme === "dark");
  const main = document.querySelector(".stMainBlockContainer");
  document.documentElement.style.setProperty("--wide", String(Math.max(680, main?.clientWidth ?? 0)));
  if (document.querySelector(".st-key-worksheet, .st-key-projector")) return;
  const asked = new XMLHttpRequest();
  asked.open("GET", `handout?${new URLSearchParams({ link: location.href })}`, false); // paper does not wait
  try {
    asked.send();
    const handout = new DOMParser().parseFromString(asked.responseText, "text/html").querySelector("#packviz-handout");
    document.querySelector("#packviz-handout")?.remove();
    if (handout) document.body.prepend(handout);
  } catch {} // without a server it is printed without its address
});
addEventListener("afterprint", () => document.querySelector("#packviz-handout")?.remove());
