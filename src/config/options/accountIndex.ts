import { integerType, switchType } from "../valueTypes.ts";
import { option } from "./option.ts";

export const ACCOUNT_INDEX_OPTIONS = {
  "explorer-index-enabled": option({
    group: "Explorer",
    type: switchType,
    default: undefined,
    defaultText: "same as --explorer-enabled",
    help: "Maintain an index by address for explorers: what an account did, tokens, creators of contracts.",
  }),
  "explorer-index-max-mb": option({
    group: "Explorer",
    type: integerType({ label: "<MEGABYTES>", unit: "MB" }),
    default: 10_240,
    help: "Maximum size of the index, which then drops its oldest blocks; 0 for no limit.",
  }),
} as const;
