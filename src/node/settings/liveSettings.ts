import { authenticationChanges, tlsChanges } from "../../callers/access/accessChanges.ts";
import type { CallerAccess } from "../../callers/access/callerAccess.ts";
import { type Enode, showEnode } from "../../config/enode.ts";
import type { Settings } from "../../config/settings.ts";
import type { Network } from "../../network/network.ts";
import { LOG_MODULES, type LogLevel, type LogModule } from "../../observability/levels.ts";
import type { LoggingSettings, RootLogger } from "../../observability/logger.ts";
import type { Permissions } from "../../permissioning/permissions.ts";
import { toKey } from "../../primitives/byteKey.ts";
import { equalBytes, toHex } from "../../primitives/hex.ts";
import { ok, type Result } from "../../primitives/result.ts";
import { GUARDED_SERVERS, SERVERS } from "../../rpc/server/serverTable.ts";
import type { TxPool } from "../../txpool/txPool.ts";
import type { NamedPeers } from "../openChainAndPool.ts";
import { dialAddress } from "../peers/peerInfo.ts";
import type { BlockControls } from "./miningSettings.ts";

/**
 * What a running node takes over from a configuration that was read again: log levels, the lists of permissions, users and
 * keys of tokens, static nodes, and settings of its blocks. What JSON-RPC had changed of these is as configured again, except for peers that
 * admin_addPeer added.
 */
export interface LiveSettings {
  /**
   * Applies all or, when a list of permissions cannot be read, nothing. `tell` gets the changes in the operator's words,
   * at a moment when the level before or the level afterwards shows what is logged at INFO.
   */
  apply(settings: Settings, tell: (changes: readonly string[]) => void): Result<void, "unusablePermissions">;
}

interface LiveParts {
  readonly logger: RootLogger;
  readonly permissions: Permissions;
  readonly namedPeers: NamedPeers;
  readonly pool: Pick<TxPool, "blockFloors" | "changeBlockFloors">;
  readonly mining: Pick<BlockControls, "changeable">;
  readonly access: CallerAccess;
  /** Undefined when peer-to-peer is off. */
  readonly network: Pick<Network, "addPeer" | "stopMaintaining"> | undefined;
}

export function createLiveSettings(parts: LiveParts): LiveSettings {
  return {
    apply(settings, tell) {
      const reloaded = reloadPermissions(parts.permissions);
      if (!reloaded.ok) return reloaded;
      const changes = [
        ...reloaded.value,
        ...changePeers(parts, settings),
        ...changeAccess(parts.access, settings),
        ...changeBlocks(parts, settings),
      ];
      const levels = levelChanges(parts.logger, settings.logging);
      const all = [...describeLevels(levels), ...changes];
      const isShownBefore = parts.logger.isEnabled("info");
      if (isShownBefore) tell(all);
      for (const { module, to } of levels) parts.logger.changeLevel(to, [module]);
      if (!isShownBefore) tell(all);
      return ok(undefined);
    },
  };
}

function reloadPermissions(permissions: Permissions): Result<readonly string[], "unusablePermissions"> {
  const lists = [
    { name: "accounts-allowlist", list: permissions.accounts },
    { name: "nodes-allowlist", list: permissions.nodes },
  ];
  const before = lists.map(({ list }) => list?.items);
  const reloaded = permissions.reload();
  if (!reloaded.ok) return reloaded;
  return ok(
    lists.flatMap(({ name, list }, index) => {
      const old = before[index];
      // A list that was not changed is not replaced.
      if (list === undefined || old === undefined || list.items === old) return [];
      const known = new Set(old);
      const added = list.items.filter((item) => !known.has(item)).length;
      return [`${name}: ${added} added, ${old.length + added - list.items.length} removed`];
    }),
  );
}

/** Connections with nodes that are no longer named stay, but are not renewed. */
function changePeers({ network, namedPeers }: LiveParts, { peers }: Settings): string[] {
  if (network === undefined || peers === undefined) return [];
  const before = new Map(namedPeers.nodes.map((node) => [showEnode(node), node]));
  const after = new Map(peers.maintained.map((node) => [showEnode(node), node]));
  const removed = withoutThose(before, after);
  const added = withoutThose(after, before);
  for (const { nodeId } of removed) network.stopMaintaining(nodeId);
  const removedIds = new Set(removed.map(({ nodeId }) => toKey(nodeId)));
  for (const [url, node] of after) {
    const address = dialAddress(node);
    // A removed one may be named by another URL too, that of a bootnode.
    const isAbsent = !before.has(url) || removedIds.has(toKey(node.nodeId));
    if (address !== undefined && isAbsent) network.addPeer(address);
  }
  namedPeers.nodes = peers.maintained;
  if (added.length === 0 && removed.length === 0) return [];
  return [`static nodes: ${added.length} added, ${removed.length} removed`];
}

function withoutThose(nodes: ReadonlyMap<string, Enode>, others: ReadonlyMap<string, Enode>): Enode[] {
  return [...nodes].flatMap(([url, node]) => (others.has(url) ? [] : [node]));
}

/** Servers that are off stay off. */
function changeAccess(access: CallerAccess, settings: Settings): string[] {
  const { now } = access;
  const before = listsOf(now);
  access.now = settings;
  const lists = listsOf(settings).flatMap(([name, list], index) => {
    const [, old] = before[index] ?? [];
    const shown = list?.join(",") || "none";
    const was = old?.join(",") || "none";
    return shown === was ? [] : [`${name}=${shown} (was ${was})`];
  });
  return [
    ...lists,
    ...GUARDED_SERVERS.flatMap((name) =>
      tlsChanges(SERVERS[name].option, settings[name]?.tls, now[name]?.tls),
    ),
    ...GUARDED_SERVERS.flatMap((name) =>
      authenticationChanges(SERVERS[name].option, settings[name]?.authentication, now[name]?.authentication),
    ),
  ];
}

function listsOf({
  http,
  webSocket,
  ipc,
  graphQl,
  metrics,
}: CallerAccess["now"]): readonly (readonly [name: string, list: readonly string[] | undefined])[] {
  const servers = [http, webSocket, graphQl, metrics?.server];
  return [
    ["host-allowlist", servers.find((server) => server !== undefined)?.hostAllowlist],
    ["rpc-http-api", http?.groups],
    ["rpc-http-api-method-no-auth", http?.authentication?.openMethods],
    ["rpc-http-cors-origins", http?.corsOrigins],
    ["graphql-http-cors-origins", graphQl?.corsOrigins],
    ["rpc-ws-api", webSocket?.groups],
    ["rpc-ws-api-method-no-auth", webSocket?.authentication?.openMethods],
    ["rpc-ws-origins", (webSocket ?? http)?.trustedOrigins],
    ["Xrpc-ipc-api", ipc?.groups],
  ];
}

function changeBlocks(
  { pool, mining: { changeable } }: LiveParts,
  { blockProduction, pool: { blockFloors } }: Settings,
): string[] {
  const changes: string[] = [];
  const note = (name: string, now: unknown, before: unknown): void =>
    void changes.push(`${name}=${now ?? "none"} (was ${before ?? "none"})`);
  const { minGasPriceWei, minPriorityFeeWei } = pool.blockFloors;
  if (minGasPriceWei !== blockFloors.minGasPriceWei)
    note("min-gas-price", blockFloors.minGasPriceWei, minGasPriceWei);
  if (minPriorityFeeWei !== blockFloors.minPriorityFeeWei)
    note("min-priority-fee", blockFloors.minPriorityFeeWei, minPriorityFeeWei);
  pool.changeBlockFloors(blockFloors);
  const { vanity, targetGasLimit } = blockProduction;
  if (!equalBytes(changeable.extraData, vanity))
    note("miner-extra-data", shortHex(vanity), shortHex(changeable.extraData));
  changeable.extraData = vanity;
  if (changeable.targetGasLimit !== targetGasLimit)
    note("target-gas-limit", targetGasLimit, changeable.targetGasLimit);
  changeable.targetGasLimit = targetGasLimit;
  return changes;
}

/** Hex text as miner_getExtraData shows it. */
function shortHex(bytes: Uint8Array): string {
  return toHex(bytes).replace(/^0x0*/, "0x");
}

interface LevelChange {
  readonly module: LogModule;
  readonly from: LogLevel;
  readonly to: LogLevel;
}

function levelChanges(logger: RootLogger, { level, moduleLevels }: LoggingSettings): readonly LevelChange[] {
  return LOG_MODULES.map((module) => ({
    module,
    from: logger.levelOf(module),
    to: moduleLevels[module] ?? level,
  })).filter(({ from, to }) => from !== to);
}

/** Describes changes of log levels, in one text where all modules change alike. */
function describeLevels(changes: readonly LevelChange[]): string[] {
  const texts = changes.map(({ from, to }) => `${to} (was ${from})`);
  if (changes.length === LOG_MODULES.length && new Set(texts).size === 1) return [`logging=${texts[0]}`];
  return changes.map(({ module }, index) => `logging of ${module}=${texts[index]}`);
}
