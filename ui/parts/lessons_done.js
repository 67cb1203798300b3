// The lessons that are done, for the next visit or a reload: the server gets the cookie with the page.
export default function ({ data }) {
  // biome-ignore lint/suspicious/noDocumentCookie: not every browser has the Cookie Store
  document.cookie = `${data.cookie}=${data.done}; path=/; SameSite=Lax`;
}
