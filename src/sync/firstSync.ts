import type { Chain } from "../chain/createChain.ts";
import type { NodePermissions } from "../permissioning/contract/nodePermissions.ts";

interface FirstSyncParts {
  readonly chain: Pick<Chain, "genesis" | "head" | "onHeadChanged">;
  readonly network: {
    readonly peers: readonly { readonly nodeId: Uint8Array }[];
    /** Asks again which peers may stay. */
    review(): void;
  };
  readonly peering: {
    readonly sync: { readonly isInSync: boolean };
    readonly headOf: FindAnnounced;
    /** Calls `listener` whenever the sync target is set, moved or cleared. */
    onSyncChanged(listener: () => void): void;
    /** Calls `listener` whenever a peer is greeted and its height known, has a greater one, or leaves. */
    onPeersChanged(listener: () => void): void;
  };
}

/** Best block announced by a peer, by its node id. */
type FindAnnounced = (nodeId: Uint8Array) => { readonly totalDifficulty: bigint } | undefined;

/**
 * Tells the permissions of nodes when the node is in sync for the first time, which they wait for. A network that starts anew
 * makes no block before its validators are connected, so a greeting of a peer counts as well as a new head. Once the node has
 * been in sync, nothing is computed any more.
 */
export function watchFirstSync(
  byContract: Pick<NodePermissions, "hasReachedSync" | "noteInSync">,
  { chain, network, peering }: FirstSyncParts,
): void {
  const noteIfLevel = (): void => {
    if (byContract.hasReachedSync || !isLevel(chain, network, peering.headOf)) return;
    byContract.noteInSync();
    network.review();
  };
  peering.onSyncChanged(noteIfLevel);
  peering.onPeersChanged(noteIfLevel);
  chain.onHeadChanged("connections", ({ added }) => {
    noteIfLevel();
    // A node that makes blocks without any peer has nothing to fetch.
    const isAlone = !byContract.hasReachedSync && network.peers.length === 0;
    if (!isAlone || added.length !== 1 || !peering.sync.isInSync) return;
    byContract.noteInSync();
    network.review();
  });
}

/**
 * Whether there are peers, and none has announced a longer chain. Sync's own word allows for some blocks, and the state
 * before them may deny a node that they permit. Each block of IBFT has the difficulty 1.
 */
function isLevel(
  { head, genesis }: FirstSyncParts["chain"],
  { peers }: Pick<FirstSyncParts["network"], "peers">,
  headOf: FindAnnounced,
): boolean {
  const own = genesis.header.difficulty + head.header.number;
  const announced = peers.flatMap(({ nodeId }) => headOf(nodeId)?.totalDifficulty ?? []);
  return announced.length > 0 && announced.every((totalDifficulty) => totalDifficulty <= own);
}
