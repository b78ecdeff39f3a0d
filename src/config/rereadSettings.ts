import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import { fail, ok, type Result } from "../primitives/result.ts";
import { authenticationFiles } from "./authenticationSettings.ts";
import { readEnvironment } from "./environment.ts";
import { OPTION_NAMES, type OptionName, type OptionValues, optionNamed } from "./options.ts";
import { findRaw, type ResolvedOptions } from "./precedence.ts";
import { describeSource } from "./rawOption.ts";
import { type Configuration, rereadConfiguration } from "./readSettings.ts";
import type { Settings } from "./settings.ts";
import { tlsFiles } from "./tlsSettings.ts";

/** What the sources say now. */
interface Reread {
  /** Options that a running node cannot change have the values that it was started with. */
  readonly settings: Settings;
  /** Changed options that a running node cannot take over, each with where it is given, for the operator. */
  readonly awaitingRestart: readonly { readonly option: OptionName; readonly given: string }[];
}

/**
 * Options that take effect while the node runs. The lists of permissions, and the files of authentication and TLS, are read again as well.
 */
const APPLIED_WHILE_RUNNING: ReadonlySet<OptionName> = new Set<OptionName>([
  "logging",
  "logging-modules",
  "min-gas-price",
  "min-priority-fee",
  "miner-extra-data",
  "target-gas-limit",
  "static-nodes-file",
  "host-allowlist",
  "rpc-http-api",
  "rpc-http-api-method-no-auth",
  "rpc-http-cors-origins",
  "graphql-http-cors-origins",
  "rpc-ws-api",
  "rpc-ws-api-method-no-auth",
  "rpc-ws-origins",
  "Xrpc-ipc-api",
]);

/**
 * Reads the sources of a running node's configuration again (operating.md#reread-the-configuration). Everything is checked
 * as at a start, except for the genesis file. Fails as a whole.
 */
export function rereadSettings(running: Configuration): Result<Reread, "badConfiguration"> {
  const unreadable = filesOf(running).flatMap(problemOf);
  if (unreadable.length > 0) return fail("caller", "badConfiguration", unreadable.join("\n"));
  const read = rereadConfiguration(running, (options) => withRunning(options, running.options));
  if (!read.ok) return read;
  const { options, settings } = read.value;
  const awaitingRestart = OPTION_NAMES.filter(
    (name) =>
      !APPLIED_WHILE_RUNNING.has(name) &&
      optionNamed(name).noEffect === undefined &&
      shown(options, name) !== shown(running.options, name),
  ).map((option) => ({ option, given: describeSource(options.sourceOf(option)) }));
  return ok({ settings, awaitingRestart });
}

/** Replaces the options that need a restart by those of the running node. */
function withRunning(read: ResolvedOptions, running: ResolvedOptions): ResolvedOptions {
  const values: Partial<Record<OptionName, unknown>> = { ...running.values };
  for (const name of APPLIED_WHILE_RUNNING) values[name] = read.values[name];
  // Each value is of its own option, as OptionValues states.
  return { ...read, values: values as OptionValues };
}

function shown({ values }: ResolvedOptions, name: OptionName): string | undefined {
  const value = values[name];
  return value === undefined ? undefined : optionNamed(name).type.show(value);
}

/** The files that are read again, absolute. */
function filesOf({ settings, options, sources }: Configuration): readonly string[] {
  const configFile = findRaw([sources.raw, readEnvironment(sources.environment).raw], "config-file");
  const { accountsFile, nodesFile } = settings.permissions;
  const staticNodes = options.values["static-nodes-file"] ?? join(settings.dataPath, "static-nodes.json");
  const named = [
    configFile?.text,
    staticNodes,
    accountsFile,
    nodesFile,
    ...authenticationFiles(options),
    ...tlsFiles(options),
  ];
  return named.flatMap((path) => (path === undefined ? [] : [resolve(sources.workingDirectory, path)]));
}

/** Six thousand enode URLs. Reading holds the main thread, which has blocks to make. */
const MOST_BYTES = 1024 * 1024;

/** A pipe, such as that of a shell's `<(…)`, is empty or blocks when it is read again. Absent files are judged later. */
function problemOf(path: string): string[] {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return [];
  if (!found.isFile()) return [`${path} is not a regular file, so it cannot be read again`];
  if (found.size <= MOST_BYTES) return [];
  return [`${path} is larger than ${MOST_BYTES} bytes, so it is read at a start only`];
}
