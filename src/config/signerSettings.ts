import { resolve } from "node:path";
import { isPublicKey } from "../primitives/secp256k1.ts";
import { report } from "./diagnostics.ts";
import type { OptionValues } from "./options.ts";
import type { ResolvedOptions } from "./precedence.ts";
import type { Settings } from "./settings.ts";

/** The remote signer, once signerProblems has found nothing. */
export function signerSettings(values: OptionValues, workingDirectory: string): Pick<Settings, "signer"> {
  const url = readUrl(values["validator-signer-url"]);
  const publicKey = values["validator-signer-public-key"];
  const caFile = values["validator-signer-ca-file"];
  if (url === undefined || publicKey === undefined) return {};
  return {
    signer: { url, publicKey, ...(caFile !== undefined && { caFile: resolve(workingDirectory, caFile) }) },
  };
}

/** A remote signer is named by URL and key, and both must be usable. */
export function signerProblems(options: ResolvedOptions): string[] {
  const { values, isGiven } = options;
  const problems: string[] = [];
  const text = values["validator-signer-url"];
  if (isGiven("validator-signer-url") !== isGiven("validator-signer-public-key"))
    problems.push(
      report(
        options,
        "--validator-signer-url and --validator-signer-public-key are given together or not at all.",
        "validator-signer-url",
        "validator-signer-public-key",
      ),
    );
  if (text !== undefined && readUrl(text) === undefined)
    problems.push(
      report(
        options,
        "--validator-signer-url is not a URL of http or https without user, query and fragment.",
        "validator-signer-url",
      ),
    );
  const key = values["validator-signer-public-key"];
  if (key !== undefined && !isPublicKey(key))
    problems.push(
      report(
        options,
        "--validator-signer-public-key is not a public key of 64 bytes, as shown by 'public-key export'.",
        "validator-signer-public-key",
      ),
    );
  if (values["validator-signer-ca-file"] !== undefined && readUrl(text)?.protocol !== "https:")
    problems.push(
      report(
        options,
        "--validator-signer-ca-file is of use with a --validator-signer-url of https only.",
        "validator-signer-ca-file",
      ),
    );
  return problems;
}

/** Passwords in a URL would be in logs and process lists. */
function readUrl(text: string | undefined): URL | undefined {
  if (text === undefined || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  const isPlain = url.username === "" && url.password === "" && url.search === "" && url.hash === "";
  return isPlain && ["http:", "https:"].includes(url.protocol) ? url : undefined;
}
