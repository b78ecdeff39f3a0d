import { existsSync } from "node:fs";
import type { RawOption } from "../config/rawOption.ts";
import { readSettings } from "../config/readSettings.ts";
import { checkKeystore } from "../node/keys/keystoreFile.ts";
import { openNodeKey } from "../node/keys/nodeKey.ts";
import { checkSignerFiles } from "../node/signer/openSigner.ts";

interface ConfigValidation {
  readonly isValid: boolean;
  /** Problems, each with the option and its line in the file. */
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

/**
 * Checks a configuration file without starting the node: syntax, names, values, rules between options, and the named files
 * that exist.
 */
export function validateConfig(raw: readonly RawOption[], workingDirectory: string): ConfigValidation {
  if (!raw.some(({ name }) => name === "config-file")) {
    return invalid(["Missing required option '--config-file=<PATH>'"]);
  }
  const settings = readSettings({ raw, environment: {}, workingDirectory, isTerminal: false });
  if (!settings.ok) return invalid(settings.error.message.split("\n"));
  const { nodeKey, signer, warnings } = settings.value;
  // An absent key file is created at the start.
  const key =
    nodeKey.keystore !== undefined
      ? checkKeystore(nodeKey.keystore)
      : existsSync(nodeKey.path)
        ? openNodeKey(nodeKey)
        : undefined;
  if (key !== undefined && !key.ok) return invalid([key.error.message]);
  const signerFiles = signer && checkSignerFiles(signer);
  if (signerFiles?.ok === false) return invalid([signerFiles.error.message]);
  return { isValid: true, problems: [], warnings };
}

/** Formats the result for people. The first words of success are Besu's, because scripts look for them. */
export function validationText({ isValid, problems, warnings }: ConfigValidation): string {
  if (!isValid) return problems.join("\n");
  return [
    "TOML config file is valid on basic inspection. The rules between its options and its genesis file are checked too.",
    ...warnings.map((warning) => `Warning: ${warning}`),
  ].join("\n");
}

function invalid(problems: readonly string[]): ConfigValidation {
  return { isValid: false, problems, warnings: [] };
}
