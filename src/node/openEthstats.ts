import { arch, platform } from "node:os";
import type { NodeIdentity, NodeStats } from "../ethstats/reports.ts";
import { durationClock } from "../primitives/clock.ts";
import { toHex } from "../primitives/hex.ts";
import { larger } from "../primitives/quantity.ts";
import type { OpenNode } from "./openNode.ts";

/** Starts the reports to an ethstats server, where one is named. */
export async function openEthstats(node: OpenNode): Promise<void> {
  const { settings, logger, clock, openParts, key, chain, peering, peerToPeer } = node;
  const { engine } = node.consensus;
  const { pool } = node.txPool;
  if (settings.ethstats === undefined) return;
  // Not loaded where it is off: nothing else on this thread needs WebSockets.
  const { EthstatsReporter } = await import("../ethstats/reporter.ts");
  const identity = (): NodeIdentity => ({
    id: toHex(key.publicKey),
    port: peerToPeer?.advertised.port,
    clientVersion: settings.clientVersion,
    chainId: settings.chainSpec.chainId,
    protocols: peering.protocols.map(({ name, version }) => `${name}/${version}`),
  });
  const stats = (): NodeStats => ({
    isMining: engine.status().mode === "validating",
    isSyncing: peering.sync.status !== undefined,
    peers: peerToPeer?.peerCount ?? 0,
    pendingTransactions: pool.statistics.pending,
    gasPriceWei: larger(pool.blockFloors.minGasPriceWei, chain.head.header.baseFeePerGas ?? 0n),
  });
  const reporter = new EthstatsReporter(settings.ethstats, {
    chain,
    identity,
    stats,
    platform: platform(),
    architecture: arch(),
    clock: durationClock,
    nowMs: () => clock.nowMs(),
    logger: logger.child("metrics"),
  });
  openParts.onClose(() => reporter.stop());
  reporter.start();
}
