import { ACCOUNT_INDEX_OPTIONS } from "./options/accountIndex.ts";
import { DEVELOPMENT_OPTIONS } from "./options/development.ts";
import { ETHSTATS_OPTIONS } from "./options/ethstats.ts";
import { EXPLORER_OPTIONS } from "./options/explorer.ts";
import { FAUCET_OPTIONS } from "./options/faucet.ts";
import { GENERAL_OPTIONS } from "./options/general.ts";
import { GRAPHQL_OPTIONS } from "./options/graphQl.ts";
import { JAVA_OPTIONS } from "./options/javaMachine.ts";
import { METRICS_OPTIONS } from "./options/metrics.ts";
import { MINING_OPTIONS } from "./options/mining.ts";
import type { Option } from "./options/option.ts";
import { PEER_TO_PEER_OPTIONS } from "./options/peerToPeer.ts";
import { PEER_TUNING_OPTIONS } from "./options/peerTuning.ts";
import { PERMISSIONING_OPTIONS } from "./options/permissioning.ts";
import { PRIVACY_OPTIONS } from "./options/privacy.ts";
import { PROOF_OF_WORK_OPTIONS } from "./options/proofOfWork.ts";
import { RPC_OPTIONS } from "./options/rpc.ts";
import { RPC_SECURITY_OPTIONS } from "./options/rpcSecurity.ts";
import { SIGNER_OPTIONS } from "./options/signer.ts";
import { STORAGE_OPTIONS } from "./options/storage.ts";
import { TX_POOL_OPTIONS } from "./options/txPool.ts";
import { UNSUPPORTED_SERVER_OPTIONS } from "./options/unsupportedServers.ts";
import { UNSUPPORTED_SYNC_OPTIONS } from "./options/unsupportedSync.ts";

/**
 * The one table of options, read by the command line, environment variables, TOML files, help, validation and messages.
 *
 *     argv ─── commandLine.ts ┐
 *     env ──── environment.ts ┤
 *     TOML ─── toml.ts ───────┼─ raw options ─ precedence.ts ─ values ─ readSettings.ts ─ Settings ─ node
 *     profile  profiles.ts ───┘       (valueTypes.ts parses the texts)
 *
 * An option without effect states why (noEffect); a security switch that is not implemented prevents the start
 * (refusedWhenOn). optionWarnings.ts and crossChecks.ts report both. Names that only other releases of Besu know are in
 * unknownOptions.ts.
 */
export const OPTIONS = {
  ...GENERAL_OPTIONS,
  ...RPC_OPTIONS,
  ...RPC_SECURITY_OPTIONS,
  ...GRAPHQL_OPTIONS,
  ...EXPLORER_OPTIONS,
  ...FAUCET_OPTIONS,
  ...DEVELOPMENT_OPTIONS,
  ...UNSUPPORTED_SERVER_OPTIONS,
  ...TX_POOL_OPTIONS,
  ...MINING_OPTIONS,
  ...SIGNER_OPTIONS,
  ...PROOF_OF_WORK_OPTIONS,
  ...STORAGE_OPTIONS,
  ...ACCOUNT_INDEX_OPTIONS,
  ...UNSUPPORTED_SYNC_OPTIONS,
  ...PEER_TO_PEER_OPTIONS,
  ...PEER_TUNING_OPTIONS,
  ...PERMISSIONING_OPTIONS,
  ...METRICS_OPTIONS,
  ...ETHSTATS_OPTIONS,
  ...PRIVACY_OPTIONS,
  ...JAVA_OPTIONS,
} as const;

export type OptionName = keyof typeof OPTIONS;

/** The parsed value of each option. */
export type OptionValues = {
  readonly [N in OptionName]: (typeof OPTIONS)[N] extends Option<infer V, infer D> ? V | D : never;
};

export const OPTION_NAMES = Object.keys(OPTIONS) as readonly OptionName[];

/** An option without its value's type, for code that treats all options alike. */
export function optionNamed(name: OptionName): Option<unknown, unknown> {
  return OPTIONS[name] as unknown as Option<unknown, unknown>;
}

/** The option that a name or an alias stands for; names are case-sensitive. */
export function findOption(nameOrAlias: string): OptionName | undefined {
  return BY_SPELLING.get(nameOrAlias);
}

export function findOptionByLetter(letter: string): OptionName | undefined {
  return OPTION_NAMES.find((name) => optionNamed(name).letter === letter);
}

/** All spellings of an option, its name first. */
export function spellingsOf(name: OptionName): readonly string[] {
  return [name, ...(optionNamed(name).aliases ?? [])];
}

/** The spelling used in messages: the longest one, as in Besu. */
export function longestSpelling(name: OptionName): string {
  return spellingsOf(name).reduce((longest, each) => (each.length > longest.length ? each : longest));
}

const BY_SPELLING: ReadonlyMap<string, OptionName> = new Map(
  OPTION_NAMES.flatMap((name) => spellingsOf(name).map((spelling) => [spelling, name] as const)),
);
