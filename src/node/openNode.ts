import type { ChainAndPool } from "./openChainAndPool.ts";
import type { OpenContext } from "./openContext.ts";
import type { OpenDevelopment } from "./openDevelopment.ts";
import type { ConsensusAndPeers } from "./openNetwork.ts";
import type { Stores } from "./openStores.ts";

/** All that is open when the servers follow, in the order in which it opens. */
export type OpenNode = OpenContext & Stores & ChainAndPool & ConsensusAndPeers & OpenDevelopment;
