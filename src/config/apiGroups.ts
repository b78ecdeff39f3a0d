import { ok } from "../primitives/result.ts";
import { bad, type ValueType } from "./valueTypes.ts";

/**
 * The groups of JSON-RPC methods that can be enabled, by the incumbent's names. Every name is accepted; one that is
 * foreign to an IBFT 2.0 node has no methods, which an operator who asks for it is told.
 */
const GROUPS = {
  ETH: "served",
  NET: "served",
  WEB3: "served",
  TXPOOL: "served",
  DEBUG: "served",
  TRACE: "served",
  ADMIN: "served",
  MINER: "served",
  IBFT: "served",
  PERM: "served",
  PLUGINS: "served",
  EEA: "foreign",
  PRIV: "foreign",
  CLIQUE: "foreign",
  ENGINE: "foreign",
  QBFT: "foreign",
} as const;

export type ApiGroup = keyof typeof GROUPS;

const API_GROUPS = Object.keys(GROUPS) as readonly ApiGroup[];

/** The groups that belong to an IBFT 2.0 node. */
export const OWN_API_GROUPS: readonly ApiGroup[] = API_GROUPS.filter((group) => GROUPS[group] !== "foreign");

/** Why a group answers nothing; undefined for one that does. */
export function whyUnserved(group: ApiGroup): string | undefined {
  return GROUPS[group] === "foreign" ? "it does not belong to an IBFT 2.0 node" : undefined;
}

/** As the incumbent's: names in capitals, no other spelling. */
export const apiGroupsType: ValueType<readonly ApiGroup[]> = {
  arity: "list",
  label: "<API,...>",
  accepts: `a list separated by commas of ${API_GROUPS.join(", ")}`,
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
