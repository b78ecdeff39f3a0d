import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { parseCommandLine } from "../../src/cli/commandLine.ts";
import { DEV_GENESIS_FILE } from "../../src/config/devNetwork.ts";
import type { Environment } from "../../src/config/environment.ts";
import { readSettings } from "../../src/config/readSettings.ts";
import type { Settings } from "../../src/config/settings.ts";

export interface Given {
  /** Command line arguments. */
  readonly args?: readonly string[];
  readonly environment?: Environment;
  /** Content of a configuration file, node.toml. */
  readonly toml?: string;
}

/** The development network's genesis file, whose use switches the preset off. */
export const DEV_GENESIS = `--genesis-file=${DEV_GENESIS_FILE}`;

/** Reads settings as the program does, in a new temporary folder. */
export function settingsIn(prefix: string) {
  const folder = mkdtempSync(join(tmpdir(), prefix));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function read({ args = [], environment = {}, toml }: Given) {
    const all = [...args];
    if (toml !== undefined) {
      writeFileSync(join(folder, "node.toml"), toml);
      all.push("--config-file=node.toml");
    }
    const { raw, unknown, problems } = parseCommandLine(all);
    if (problems.length > 0) throw new Error(problems.join("\n"));
    return readSettings({ raw, unknown, environment, workingDirectory: folder, isTerminal: false });
  }

  return {
    folder,
    settings(given: Given): Settings {
      const outcome = read(given);
      if (!outcome.ok) throw new Error(outcome.error.message);
      return outcome.value;
    },
    /** One line for each problem. */
    problems(given: Given): readonly string[] {
      const outcome = read(given);
      return outcome.ok ? [] : outcome.error.message.split("\n");
    },
    write(name: string, text: string): string {
      writeFileSync(join(folder, name), text);
      return name;
    },
  };
}
