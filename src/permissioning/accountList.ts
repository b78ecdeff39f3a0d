import type { AllowlistKind } from "./allowlist.ts";

/** Permitted senders: 0x and 40 hexadecimal digits, kept in lower case. */
export const ACCOUNT_LIST: AllowlistKind = {
  key: "accounts-allowlist",
  noun: "account",
  normalize: (text) => (/^0x[0-9a-fA-F]{40}$/.test(text) ? text.toLowerCase() : undefined),
};
