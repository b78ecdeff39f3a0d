import { join, resolve } from "node:path";
import { silentLogger } from "../observability/logger.ts";
import type { AllowlistKind } from "../permissioning/allowlist.ts";
import { openPermissions, type PermissionSettings } from "../permissioning/permissions.ts";
import { type Diagnostics, report } from "./diagnostics.ts";
import { type Enode, type HostNames, isNamed, parseEnode, showEnode } from "./enode.ts";
import type { OptionValues } from "./options.ts";
import type { ResolvedOptions } from "./precedence.ts";

/** The files of the enabled allowlists, and the contracts (options.md#permissioning-options). */
export function permissionSettings(values: OptionValues, workingDirectory: string): PermissionSettings {
  const inDataFolder = join(values["data-path"], "permissions_config.toml");
  const fileOf = (named: string | undefined): string => resolve(workingDirectory, named ?? inDataFolder);
  const nodeAddress = values["permissions-nodes-contract-address"];
  return {
    nodeContract:
      values["permissions-nodes-contract-enabled"] && nodeAddress !== undefined
        ? { address: nodeAddress, version: values["permissions-nodes-contract-version"] === 2 ? 2 : 1 }
        : undefined,
    accountContract: values["permissions-accounts-contract-enabled"]
      ? values["permissions-accounts-contract-address"]
      : undefined,
    accountsFile: values["permissions-accounts-config-file-enabled"]
      ? fileOf(values["permissions-accounts-config-file"])
      : undefined,
    nodesFile: values["permissions-nodes-config-file-enabled"]
      ? fileOf(values["permissions-nodes-config-file"])
      : undefined,
  };
}

/**
 * An enabled allowlist must exist and be readable, and an enabled contract have an address; otherwise the node could not
 * enforce it. The messages are Besu's.
 */
export function checkPermissions(options: ResolvedOptions, workingDirectory: string): Diagnostics {
  const { values } = options;
  const noAddress = contractProblems(options);
  if (noAddress.length > 0) return { problems: noAddress, warnings: [] };
  const settings = permissionSettings(values, workingDirectory);
  const opened = openPermissions(settings, {
    nodeKind: nodeListKind({ hostNames: values["Xdns-enabled"] ? "known" : "none" }),
    logger: silentLogger,
  });
  if (!opened.ok) {
    const names = ["permissions-accounts-config-file", "permissions-nodes-config-file"] as const;
    return { problems: [report(options, opened.error.message, ...names)], warnings: [] };
  }
  return { problems: [], warnings: [] };
}

function contractProblems(options: ResolvedOptions): string[] {
  const kinds = [
    ["node", "permissions-nodes-contract-enabled", "permissions-nodes-contract-address"],
    ["account", "permissions-accounts-contract-enabled", "permissions-accounts-contract-address"],
  ] as const;
  return kinds.flatMap(([noun, enabled, address]) => {
    if (!options.values[enabled] || options.values[address] !== undefined) return [];
    const message = `No ${noun} permissioning contract address specified. Cannot enable smart contract based ${noun} permissioning.`;
    return [report(options, message, enabled)];
  });
}

/** Nodes by enode URL, with host names only if --Xdns-enabled. Maintained peers cannot be removed from the list. */
export function nodeListKind({
  hostNames,
  maintained = () => [],
}: {
  readonly hostNames: HostNames;
  readonly maintained?: () => readonly Enode[];
}): AllowlistKind {
  return {
    key: "nodes-allowlist",
    noun: "node",
    normalize(text) {
      const node = parseEnode(text);
      return node.ok && (hostNames !== "none" || !isNamed(node.value)) ? showEnode(node.value) : undefined;
    },
    isFixed: (item) => maintained().some((node) => showEnode(node) === item),
  };
}
