import { useState } from "preact/hooks";
import { chooseTheme, chosenTheme, type Theme } from "../theme.ts";

const NEXT: Readonly<Record<Theme, Theme>> = { system: "light", light: "dark", dark: "system" };
const NAMES: Readonly<Record<Theme, string>> = { system: "as the system", light: "light", dark: "dark" };
const SIGNS: Readonly<Record<Theme, string>> = { system: "◐", light: "☀", dark: "☾" };

/** Cycles through light, dark, and the system's choice. */
export function ThemeSwitch() {
  const [theme, setTheme] = useState(chosenTheme);
  const change = (): void => {
    chooseTheme(NEXT[theme]);
    setTheme(NEXT[theme]);
  };
  const label = `Colours: ${NAMES[theme]}. Change to ${NAMES[NEXT[theme]]}.`;
  return (
    <button type="button" class="theme" aria-label={label} title={label} onClick={change}>
      <span aria-hidden="true">{SIGNS[theme]}</span>
    </button>
  );
}
