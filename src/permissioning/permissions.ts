import type { Logger } from "../observability/logger.ts";
import type { Metrics } from "../observability/registry.ts";
import type { Address } from "../primitives/address.ts";
import { toHex } from "../primitives/hex.ts";
import { ok, type Result } from "../primitives/result.ts";
import { ACCOUNT_LIST } from "./accountList.ts";
import { type Allowlist, type AllowlistKind, type ListChange, openAllowlist } from "./allowlist.ts";
import { CheckCounts } from "./checkCounts.ts";
import type { NodeContractSettings } from "./contract/nodeContract.ts";

/** The permitted senders and nodes, if the operator keeps lists of them. */
export interface Permissions {
  /** Undefined when every sender is permitted. */
  readonly accounts: Allowlist | undefined;
  /** Undefined when every node is permitted. */
  readonly nodes: Allowlist | undefined;
  /** Whether the list of senders has the sender; the question is counted. */
  isSenderPermitted(sender: Address): boolean;
  /** Reloads both lists, or keeps both on an error, and returns what changed. */
  reload(): Result<readonly ListChange[], "unusablePermissions">;
}

export interface PermissionSettings {
  /** Contract that is asked about senders; undefined when none is. */
  readonly accountContract: Address | undefined;
  /** Contract that is asked about nodes; undefined when none is. */
  readonly nodeContract: NodeContractSettings | undefined;
  /** File with the list of senders; undefined when every sender is permitted. */
  readonly accountsFile: string | undefined;
  /** File with the list of nodes; undefined when every node is permitted. */
  readonly nodesFile: string | undefined;
}

/** Fails when a file is unusable. `nodeKind` parses node entries. */
export function openPermissions(
  { accountsFile, nodesFile }: Pick<PermissionSettings, "accountsFile" | "nodesFile">,
  {
    nodeKind,
    logger,
    metrics,
  }: {
    readonly nodeKind: AllowlistKind;
    readonly logger: Logger;
    /** Absent where the questions to the list of senders are not counted. */
    readonly metrics?: Metrics | undefined;
  },
): Result<Permissions, "unusablePermissions"> {
  const accounts = accountsFile === undefined ? undefined : openAllowlist(ACCOUNT_LIST, accountsFile, logger);
  if (accounts?.ok === false) return accounts;
  const nodes = nodesFile === undefined ? undefined : openAllowlist(nodeKind, nodesFile, logger);
  if (nodes?.ok === false) return nodes;
  return ok(createPermissions(accounts?.value, nodes?.value, metrics));
}

function createPermissions(
  accounts: Allowlist | undefined,
  nodes: Allowlist | undefined,
  metrics: Metrics | undefined,
): Permissions {
  const counts = new CheckCounts(accounts && metrics, "account_local", "account allowlist");
  return {
    accounts,
    nodes,
    isSenderPermitted(sender) {
      if (accounts === undefined) return true;
      const isPermitted = accounts.has(toHex(sender));
      counts.asked();
      counts.answered(isPermitted ? "permitted" : "denied");
      return isPermitted;
    },
    reload() {
      const readAccounts = accounts?.read();
      if (readAccounts?.ok === false) return readAccounts;
      const readNodes = nodes?.read();
      if (readNodes?.ok === false) return readNodes;
      const changes = [
        readAccounts && accounts?.replace(readAccounts.value),
        readNodes && nodes?.replace(readNodes.value),
      ];
      return ok(changes.filter((change) => change !== undefined));
    },
  };
}
