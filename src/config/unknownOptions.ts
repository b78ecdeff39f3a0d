import { describeSource, type UnknownOption } from "./rawOption.ts";

/**
 * Names that Besu 24.7.0 does not know but other releases do (options.md#other-releases): they occur in copied
 * configurations. A star matches any suffix.
 */
const FAMILIES = [
  {
    family: "added after Besu 24.7.0",
    names: `poa-discovery-retry-bootnodes cache-last-block-headers cache-last-block-headers-preload-enabled
      cache-precompiles estimate-gas-tolerance-ratio ethstats-report-interval history-expiry-prune
      max-blobs-per-block max-blobs-per-transaction p2p-host-ipv6 p2p-interface-ipv6 p2p-port-ipv6
      p2p-ipv6-outbound-enabled plugin-block-txs-selection-max-time plugin-continue-on-error
      plugins-verification-mode print-paths-and-exit snapsync-server-enabled snapsync-synchronizer-*
      tx-pool-enable-balance-check tx-pool-min-score bonsai-parallel-tx-processing-enabled
      bonsai-parallel-state-root-computation-enabled rpc-http-tls-truststore-file
      rpc-http-tls-truststore-password-file graphql-tls-* graphql-mtls-enabled rpc-ws-ssl-*
      Xqbft-enable-early-round-change Xpeertask-system-enabled Xeth-max-transactions-message-size
      Xtx-pool-save-restore-timeout Xmax-tracked-seen-txs-per-peer Xin-process-rpc-*`,
  },
  {
    family: "removed before Besu 24.7.0",
    names: `pruning-enabled pruning-blocks-retained pruning-block-confirmations tx-pool-hashes-max-size
      tx-pool-future-max-by-account engine-rpc-ws-port engine-jwt-enabled goquorum-compatibility-enabled
      privacy-onchain-groups-enabled privacy-precompiled-address Xdata-storage-format Xethstats Xlauncher
      Xmerge-support Xp2p-peer-lower-bound Xrocksdb-* Xblock-txs-selection-max-time
      Xpoa-block-txs-selection-max-time Xfilter-on-enr-fork-id Xbonsai-use-snapshots`,
  },
].map(({ family, names }) => ({ family, names: names.trim().split(/\s+/) }));

/**
 * Security switches: when on they prevent the start, because ignoring them would leave a server open. Each with why, and what
 * to do.
 */
const GUARDS: ReadonlyMap<string, string> = new Map([
  ["graphql-tls-enabled", "this node has --graphql-http-tls-enabled for it"],
  ["graphql-mtls-enabled", "this node has --graphql-http-tls-client-auth-enabled for it"],
  ["rpc-ws-ssl-enabled", "this node has --rpc-ws-tls-enabled for it"],
  ["rpc-ws-ssl-client-auth-enabled", "this node has --rpc-ws-tls-client-auth-enabled for it"],
]);

/** Whether a name, without dashes, is one of another release. */
export function isOfOtherRelease(spelling: string): boolean {
  return familyOf(spelling) !== undefined;
}

/** Gives one line for each name: a warning, or a problem for a security switch that is on. */
export function checkUnknown(unknown: readonly UnknownOption[]): {
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
} {
  const problems: string[] = [];
  const warnings: string[] = [];
  for (const { spelling, text, source } of unknown) {
    const family = familyOf(spelling);
    const guard = GUARDS.get(spelling);
    if (guard !== undefined && text.toLowerCase() !== "false") {
      problems.push(`--${spelling}=${text} is refused: ${guard} (given ${describeSource(source)})`);
    } else {
      warnings.push(
        `--${spelling} has no effect in this node: it was ${family} (given ${describeSource(source)}).`,
      );
    }
  }
  return { problems, warnings };
}

function familyOf(spelling: string): string | undefined {
  return FAMILIES.find(({ names }) =>
    names.some((name) => (name.endsWith("*") ? spelling.startsWith(name.slice(0, -1)) : name === spelling)),
  )?.family;
}
