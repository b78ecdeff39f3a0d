import type { Chain } from "../chain/createChain.ts";
import type { NodePermissions } from "../permissioning/contract/nodePermissions.ts";

interface FirstSyncParts {
  readonly chain: Pick<Chain, "genesis" | "head" | "onHeadChanged">;
  readonly network: {
    readonly peers: readonly { readonly nodeId: Uint8Array }[];
    /** Asks again which peers may stay. */
    review(): void;
  };
  readonly sync: {
    readonly isInSync: boolean;
    /** Calls `listener` whenever the sync target is set, moved or cleared. */
    onStatusChanged(listener: () => void): void;
  };
  readonly eth: {
    /** Best block announced by a peer, by its node id. */
    announcedBy(nodeId: Uint8Array): { readonly totalDifficulty: bigint } | undefined;
    /** Calls `listener` whenever a peer is greeted and its height known, has a greater one, or leaves. */
    onPeersChanged(listener: () => void): void;
  };
}

/**
 * Tells the permissions of nodes when the node is in sync for the first time, which they wait for. A network that starts anew
 * makes no block before its validators are connected, so a greeting of a peer counts as well as a new head. Once the node has
 * been in sync, nothing is computed any more.
 */
export function watchFirstSync(
  byContract: Pick<NodePermissions, "hasReachedSync" | "noteInSync">,
  { chain, network, sync, eth }: FirstSyncParts,
): void {
  const noteIfLevel = (): void => {
    if (byContract.hasReachedSync || !isLevel(chain, network, eth)) return;
    byContract.noteInSync();
    network.review();
  };
  sync.onStatusChanged(noteIfLevel);
  eth.onPeersChanged(noteIfLevel);
  chain.onHeadChanged("connections", ({ added }) => {
    noteIfLevel();
    // A node that makes blocks without any peer has nothing to fetch.
    const isAlone = !byContract.hasReachedSync && network.peers.length === 0;
    if (!isAlone || added.length !== 1 || !sync.isInSync) return;
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
  eth: Pick<FirstSyncParts["eth"], "announcedBy">,
): boolean {
  const own = genesis.header.difficulty + head.header.number;
  const announced = peers.flatMap(({ nodeId }) => eth.announcedBy(nodeId)?.totalDifficulty ?? []);
  return announced.length > 0 && announced.every((totalDifficulty) => totalDifficulty <= own);
}
