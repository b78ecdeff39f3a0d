import { resolve } from "node:path";
import type { EthstatsSettings } from "../ethstats/reporter.ts";
import { certificatesIn } from "../primitives/certificates.ts";
import { messageOf } from "../primitives/errorMessage.ts";
import { fail, ok, type Result } from "../primitives/result.ts";
import { type Diagnostics, report } from "./diagnostics.ts";
import type { ResolvedOptions } from "./precedence.ts";
import { readSmallFile } from "./smallFile.ts";

interface EthstatsChoice extends Diagnostics {
  /** The ethstats server to report to; undefined for none. */
  readonly ethstats: EthstatsSettings | undefined;
}

/** Reads the options of ethstats, and the file that they may name. */
export function readEthstats(options: ResolvedOptions, workingDirectory: string): EthstatsChoice {
  const { values } = options;
  const nothing = { ethstats: undefined, problems: [], warnings: [] };
  if (values.ethstats === undefined) return nothing;
  const ethstats = { ...values.ethstats, contact: values["ethstats-contact"] ?? "", authorities: undefined };
  const path = values["ethstats-cacert-file"];
  if (path === undefined) return { ...nothing, ethstats };
  const file = resolve(workingDirectory, path);
  const authorities = readCertificates(file);
  if (authorities.ok) return { ...nothing, ethstats: { ...ethstats, authorities: authorities.value } };
  const problem = `The certificate file ${file} of the ethstats server ${authorities.error.message}`;
  return { ...nothing, problems: [report(options, problem, "ethstats-cacert-file")] };
}

function readCertificates(path: string): Result<string, "unusable"> {
  const text = readSmallFile(path);
  if (!text.ok) return fail("caller", "unusable", text.error.message);
  try {
    const found = certificatesIn(text.value);
    return found.length === 0
      ? fail("caller", "unusable", "holds no certificate (PEM)")
      : ok(found.join("\n"));
  } catch (error) {
    return fail("caller", "unusable", `holds a certificate that cannot be read: ${messageOf(error)}`);
  }
}
