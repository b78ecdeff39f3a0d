import { readSettings } from "../../src/config/readSettings.ts";
import type { Settings } from "../../src/config/settings.ts";

/** The settings of a node that was started in `folder` with these options on its command line. */
export function settingsOf(folder: string, options: Readonly<Record<string, string>>): Settings {
  const settings = readSettings({
    raw: Object.entries(options).map(([name, text]) => ({
      name: name as "data-path",
      text,
      source: { kind: "commandLine" },
    })),
    environment: {},
    workingDirectory: folder,
    isTerminal: false,
  });
  if (!settings.ok) throw new Error(settings.error.message);
  return settings.value;
}
