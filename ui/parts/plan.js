export default function ({ data, parentElement, setTriggerValue }) {
  const name = "packviz lesson plan";
  try {
    if (data.plan) localStorage.setItem(name, data.plan);
    else if (data.gone) localStorage.removeItem(name);
    else if (!parentElement.told) {
      parentElement.told = localStorage.getItem(name);
      if (parentElement.told) setTriggerValue("kept", parentElement.told);
    }
  } catch {}
}
