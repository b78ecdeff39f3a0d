import type { ChainSpec } from "../chainspec/chainSpec.ts";
import { parseTreeUrl } from "../network/discovery/treeUrl.ts";
import { type Enode, parseEnode } from "./enode.ts";
import type { Environment } from "./environment.ts";
import { natSettings } from "./natSettings.ts";
import type { OptionValues } from "./options.ts";
import type { DiscoverySettings, PeerSettings } from "./settings.ts";

/**
 * Peer limits and maintained peers: the static nodes and, as Besu does on proof-of-authority networks, the bootnodes
 * unless discovery is off (p2p.md#connection-policy).
 */
export function peerSettings(
  values: OptionValues,
  spec: ChainSpec,
  { staticNodes, environment }: { readonly staticNodes: readonly Enode[]; readonly environment: Environment },
): PeerSettings | undefined {
  if (!values["p2p-enabled"]) return undefined;
  const isDiscovering = values["discovery-enabled"];
  const inboundShare = values["remote-connections-max-percentage"] / 100;
  return {
    host: values["p2p-interface"],
    port: values["p2p-port"],
    advertisedHost: values["p2p-host"],
    nat: natSettings(values, environment),
    maxInbound: values["remote-connections-limit-enabled"]
      ? Math.round(values["max-peers"] * inboundShare)
      : undefined,
    hasRandomPriority: values["random-peer-priority-enabled"],
    maintained: [...staticNodes, ...(isDiscovering ? bootnodes(values, spec) : [])],
    discovery: isDiscovering
      ? {
          bootnodes: bootnodes(values, spec),
          checksForkId: values["filter-on-enr-fork-id"],
          ...dnsList(values, spec),
        }
      : undefined,
    bannedIds: values["banned-node-ids"],
    subnets: values["net-restrict"].filter((subnet) => subnet !== "none"),
  };
}

function bootnodes(values: OptionValues, spec: ChainSpec): readonly Enode[] {
  if (values.bootnodes.length > 0) return values.bootnodes;
  return spec.bootnodes.flatMap((url) => {
    const node = parseEnode(url);
    return node.ok ? [node.value] : [];
  });
}

/** The genesis file's URL counts when no option names one; checkAgainstChain warns when it cannot be read. */
function dnsList(values: OptionValues, spec: ChainSpec): Pick<DiscoverySettings, "dnsList"> {
  const tree = parseTreeUrl(values["discovery-dns-url"] ?? spec.dnsList ?? "");
  return tree.ok ? { dnsList: { tree: tree.value, nameServer: values["Xp2p-dns-discovery-server"] } } : {};
}
