import { existsSync } from "node:fs";
import type { RawOption } from "../config/rawOption.ts";
import { readSettings } from "../config/readSettings.ts";
import { openNodeKey } from "../node/nodeKey.ts";

export interface Verdict {
  readonly isValid: boolean;
  /** Each with the option's name, and where in the file it is given. */
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

/**
 * Checks a configuration file as far as it can be without starting: syntax, names, values, rules between options, and
 * the files it names, as far as they exist already.
 */
export function validateConfig(given: readonly RawOption[], workingDirectory: string): Verdict {
  if (!given.some(({ name }) => name === "config-file")) {
    return invalid(["Missing required option '--config-file=<PATH>'"]);
  }
  const settings = readSettings({ given, environment: {}, workingDirectory, isTerminal: false });
  if (!settings.ok) return invalid(settings.error.message.split("\n"));
  const { nodeKey, warnings } = settings.value;
  // A key file that is absent is made at the start.
  const key = existsSync(nodeKey.path) ? openNodeKey(nodeKey) : undefined;
  if (key !== undefined && !key.ok) return invalid([key.error.message]);
  return { isValid: true, problems: [], warnings };
}

/** For people and their scripts: the first words of success are the incumbent's, which scripts look for. */
export function verdictText({ isValid, problems, warnings }: Verdict): string {
  if (!isValid) return problems.join("\n");
  return [
    "TOML config file is valid on basic inspection. The rules between its options and its genesis file are checked too.",
    ...warnings.map((warning) => `Warning: ${warning}`),
  ].join("\n");
}

function invalid(problems: readonly string[]): Verdict {
  return { isValid: false, problems, warnings: [] };
}
