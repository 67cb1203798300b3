// The plan in the browser: kept there, too, and saved as a file only once the server has the note that was typed last.

const NAME = "packviz lesson plan", // in localStorage
  SAVE = ".st-key-save-packviz-plan-json button", // PLAN_FILE and PLAN_ROW in ui/state/names.py
  NOTES = '[class*="st-key-plan-row-"] input',
  PATIENCE = 5000; // ms until it is saved as it is

/** Whether a note on the screen is not the one in the plan yet. */
function differs(plan) {
  const { items } = JSON.parse(plan || '{"items": []}');
  return [...document.querySelectorAll(NOTES)].some((field, i) => field.value !== (items[i]?.note ?? ""));
}

/** Hold a click on the button that saves, while a note is on its way to the server. */
function listen(place) {
  const listening = new AbortController();
  let patience = 0,
    now = false;
  const press = () => {
    clearTimeout(patience);
    place.arrived = null;
    now = true;
    document.querySelector(SAVE)?.click();
    now = false;
  };
  const onClick = (event) => {
    if (now || !event.target.closest(SAVE) || !differs(place.plan)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    document.activeElement?.blur(); // Streamlit sends a text that has lost the focus
    clearTimeout(patience);
    patience = setTimeout(press, PATIENCE);
    place.arrived = () => differs(place.plan) || press();
  };
  window.addEventListener("click", onClick, { signal: listening.signal, capture: true });
  return () => listening.abort();
}

export default function ({ data, parentElement, setTriggerValue }) {
  parentElement.plan = data.plan;
  parentElement.end ??= listen(parentElement);
  parentElement.arrived?.();
  try {
    if (data.plan) localStorage.setItem(NAME, data.plan);
    else if (data.gone) localStorage.removeItem(NAME);
    else if (!parentElement.told) {
      parentElement.told = localStorage.getItem(NAME);
      if (parentElement.told) setTriggerValue("kept", parentElement.told);
    }
  } catch {}
  return parentElement.end;
}
