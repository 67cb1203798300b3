// anywidget sends this code with every widget, so it is short: the player is in a model shared by all of them.
const loaded = (globalThis.packvizPlayers ??= new Map());
export default {
  async render({ model, el }) {
    const player = await model.widget_manager.get_model(model.get("player").replace("IPY_MODEL_", ""));
    const code = player.get("code"),
      place = document.createElement("div");
    const style = Object.assign(document.createElement("style"), { textContent: player.get("style") });
    if (!loaded.has(code)) {
      const url = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
      loaded.set(
        code,
        import(url).finally(() => URL.revokeObjectURL(url)),
      );
    }
    el.replaceChildren(style, place);
    return (await loaded.get(code)).default().render({ model, el: place });
  },
};
