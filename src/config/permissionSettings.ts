import { join, resolve } from "node:path";
import { silentLogger } from "../observability/logger.ts";
import type { AllowlistKind } from "../permissioning/allowlist.ts";
import { openPermissions, type PermissionSettings } from "../permissioning/permissions.ts";
import { type Diagnostics, report } from "./diagnostics.ts";
import { type Enode, type HostNames, isNamed, parseEnode, showEnode } from "./enode.ts";
import type { OptionValues } from "./options.ts";
import type { ResolvedOptions } from "./precedence.ts";

/** The files of the enabled allowlists (options.md#permissioning-options). */
export function permissionSettings(values: OptionValues, workingDirectory: string): PermissionSettings {
  const inDataFolder = join(values["data-path"], "permissions_config.toml");
  const fileOf = (named: string | undefined): string => resolve(workingDirectory, named ?? inDataFolder);
  return {
    accountsFile: values["permissions-accounts-config-file-enabled"]
      ? fileOf(values["permissions-accounts-config-file"])
      : undefined,
    nodesFile: values["permissions-nodes-config-file-enabled"]
      ? fileOf(values["permissions-nodes-config-file"])
      : undefined,
  };
}

/** An enabled allowlist must exist and be readable; otherwise the node could not enforce it. */
export function checkPermissions(options: ResolvedOptions, workingDirectory: string): Diagnostics {
  const { values } = options;
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
