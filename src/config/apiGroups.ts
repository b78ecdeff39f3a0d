import { ok } from "../primitives/result.ts";
import { bad, type ValueType } from "./valueTypes.ts";

/**
 * The groups of JSON-RPC methods that can be enabled, by Besu's names; OTS and EXPLORER are our own, and so are those of the development network, which
 * no other offers. Every name is accepted; an unsupported one has
 * no methods on an IBFT 2.0 node, and naming it gives a warning.
 */
const GROUPS = {
  ETH: "supported",
  NET: "supported",
  WEB3: "supported",
  TXPOOL: "supported",
  DEBUG: "supported",
  TRACE: "supported",
  ADMIN: "supported",
  MINER: "supported",
  IBFT: "supported",
  PERM: "supported",
  PLUGINS: "supported",
  OTS: "supported",
  EXPLORER: "supported",
  EVM: "development",
  HARDHAT: "development",
  ANVIL: "development",
  EEA: "unsupported",
  PRIV: "unsupported",
  CLIQUE: "unsupported",
  ENGINE: "unsupported",
  QBFT: "unsupported",
} as const;

export type ApiGroup = keyof typeof GROUPS;

const API_GROUPS = Object.keys(GROUPS) as readonly ApiGroup[];

/** The groups that belong to an IBFT 2.0 node. */
export const SUPPORTED_API_GROUPS: readonly ApiGroup[] = API_GROUPS.filter(
  (group) => GROUPS[group] === "supported",
);

/** The groups of the development network alone. */
export const DEVELOPMENT_API_GROUPS: readonly ApiGroup[] = API_GROUPS.filter(
  (group) => GROUPS[group] === "development",
);

/** Groups that an operator may name in any network. */
const NETWORK_API_GROUPS = API_GROUPS.filter((group) => GROUPS[group] !== "development");

/** Why a group has no methods here; undefined for a served group. */
export function whyUnsupported(group: ApiGroup): string | undefined {
  return GROUPS[group] === "unsupported" ? "it does not belong to an IBFT 2.0 node" : undefined;
}

/** A list of API groups, named in capitals only, as in Besu. */
export const apiGroupsType: ValueType<readonly ApiGroup[]> = {
  arity: "list",
  label: "<API,...>",
  accepts: `a list separated by commas of ${NETWORK_API_GROUPS.join(", ")}`,
  offers: SUPPORTED_API_GROUPS,
  read: (text) => {
    const names = text
      .split(",")
      .map((name) => name.trim())
      .filter((name) => name !== "");
    const unknown = names.filter((name) => !isApiGroup(name));
    if (unknown.length > 0) return bad(`invalid entries found [${unknown.join(", ")}]`);
    return ok([...new Set(names.filter(isApiGroup))]);
  },
  show: (groups) => groups.join(","),
};

function isApiGroup(name: string): name is ApiGroup {
  return Object.hasOwn(GROUPS, name);
}
