import type { Given } from "../config/given.ts";
import { readSettings } from "../config/readSettings.ts";

export interface Verdict {
  readonly isValid: boolean;
  readonly text: string;
}

/**
 * Checks a configuration file as far as it can be without starting: syntax, names, values, rules between options, and
 * the genesis file it names. The first words of success are the incumbent's, which scripts look for.
 */
export function validateConfig(given: readonly Given[], workingDirectory: string): Verdict {
  if (!given.some(({ name }) => name === "config-file")) {
    return { isValid: false, text: "Missing required option '--config-file=<PATH>'" };
  }
  const settings = readSettings({ given, environment: {}, workingDirectory, isTerminal: false });
  if (!settings.ok) return { isValid: false, text: settings.rejection.message };
  const warnings = settings.value.warnings.map((warning) => `\nWarning: ${warning}`).join("");
  return {
    isValid: true,
    text: `TOML config file is valid on basic inspection. The rules between its options and its genesis file are checked too.${warnings}`,
  };
}
