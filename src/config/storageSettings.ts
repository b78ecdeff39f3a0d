import type { OptionValues } from "./options.ts";
import type { Settings } from "./settings.ts";

/** What is kept on the disk, and how it is watched. */
export function storageSettings(
  values: OptionValues,
): Pick<
  Settings,
  "minFreeDiskBytes" | "stateHistory" | "blockHistory" | "databaseScrubMs" | "keepsRevertReasons"
> {
  const { "state-history": states, "block-history": blocks } = values;
  return {
    minFreeDiskBytes: values["min-free-disk-mb"] * 1024 ** 2,
    stateHistory: states === "all" ? undefined : states,
    blockHistory: blocks === "all" ? undefined : blocks,
    databaseScrubMs: values["Xdatabase-scrub-seconds"] * 1000,
    keepsRevertReasons: values["revert-reason-enabled"],
  };
}
