import { resolve } from "node:path";
import type { ChainSpec } from "../chainspec/chainSpec.ts";
import type { FaucetTerms } from "../faucet/gift.ts";
import { hexToBytes, parseHex } from "../primitives/hex.ts";
import { curve } from "../primitives/secp256k1.ts";
import { DEV_ACCOUNTS } from "./devNetwork.ts";
import { type Diagnostics, report } from "./diagnostics.ts";
import type { OptionValues } from "./options.ts";
import type { ResolvedOptions } from "./precedence.ts";
import type { FaucetSettings } from "./settings.ts";
import { readSmallFile } from "./smallFile.ts";

/** The faucet, undefined where it is off, and what keeps it from being opened. */
export function readFaucet(
  options: ResolvedOptions,
  workingDirectory: string,
): Diagnostics & { readonly faucet: FaucetSettings | undefined } {
  const none = { faucet: undefined, problems: [], warnings: [] };
  const { values, isGiven } = options;
  if (!values["faucet-enabled"] || !values["explorer-enabled"]) return none;
  const file = values["faucet-key-file"];
  const refuse = (message: string) => ({
    ...none,
    problems: [report(options, message, "faucet-enabled", "faucet-key-file")],
  });
  if (file === undefined && isGiven("faucet-enabled"))
    return refuse("--faucet-enabled needs the key of the account that gives: --faucet-key-file.");
  const key = file === undefined ? devKey() : readKey(resolve(workingDirectory, file));
  if (typeof key === "string") return refuse(`The file of --faucet-key-file cannot be used: ${key}.`);
  return { ...none, faucet: { ...termsOf(values), privateKey: key } };
}

/** The coin of the main network has a value. */
export function faucetProblems(options: ResolvedOptions, spec: ChainSpec): string[] {
  const { values } = options;
  if (!values["faucet-enabled"] || values["faucet-on-main-network"] || spec.chainId !== MAIN_NETWORK)
    return [];
  return [
    report(
      options,
      `--faucet-enabled gives the coin of the main network ${MAIN_NETWORK} away, to everybody. If that is meant, add --faucet-on-main-network.`,
      "faucet-enabled",
    ),
  ];
}

const MAIN_NETWORK = 7171n;

function termsOf(values: OptionValues): FaucetTerms {
  return {
    amountWei: values["faucet-amount"],
    addressCooldownMs: values["faucet-address-cooldown-seconds"] * 1000,
    hostCooldownMs: values["faucet-host-cooldown-seconds"] * 1000,
    dailyLimitWei: values["faucet-daily-limit"],
  };
}

/** The last account of the development network gives there, unless another one is named. */
function devKey(): Uint8Array {
  return hexToBytes(DEV_ACCOUNTS.at(-1)?.privateKey ?? "");
}

/** The key, or why the file has none: without a word of what it holds. */
function readKey(path: string): Uint8Array | string {
  const text = readSmallFile(path);
  if (!text.ok) return `${path} ${text.error.message}`;
  const key = parseHex(text.value.trim());
  return key !== undefined && curve.isPrivateKey(key)
    ? key
    : `${path} does not hold a private key of 64 hexadecimal digits`;
}
