import { accessChanges } from "../../callers/access/accessChanges.ts";
import type { CallerAccess } from "../../callers/access/callerAccess.ts";
import type { Settings } from "../../config/settings.ts";
import type { Network } from "../../network/network.ts";
import { LOG_MODULES, type LogLevel, type LogModule } from "../../observability/levels.ts";
import type { LoggingSettings, RootLogger } from "../../observability/logger.ts";
import type { Permissions } from "../../permissioning/permissions.ts";
import { ok, type Result } from "../../primitives/result.ts";
import type { TxPool } from "../../txpool/txPool.ts";
import type { NamedPeers } from "../peers/namedPeers.ts";
import type { BlockControls } from "./blockControls.ts";

interface LiveParts {
  readonly logger: RootLogger;
  readonly permissions: Permissions;
  readonly namedPeers: NamedPeers;
  readonly pool: Pick<TxPool, "blockFloors" | "changeBlockFloors">;
  readonly controls: BlockControls;
  readonly access: CallerAccess;
  /** Undefined when peer-to-peer is off. */
  readonly network: Pick<Network, "addPeer" | "stopMaintaining"> | undefined;
}

/**
 * What a running node takes over from a configuration that was read again: log levels, the lists of permissions, users and
 * keys of tokens, static nodes, and settings of its blocks. What JSON-RPC had changed of these is as configured again, except for peers that
 * admin_addPeer added.
 */
export class LiveSettings {
  private readonly parts: LiveParts;

  constructor(parts: LiveParts) {
    this.parts = parts;
  }

  /**
   * Applies all or, when a list of permissions cannot be read, nothing. `tell` gets the changes in the operator's words,
   * at a moment when the level before or the level afterwards shows what is logged at INFO.
   */
  apply(settings: Settings, tell: (changes: readonly string[]) => void): Result<void, "unusablePermissions"> {
    const { logger, permissions, namedPeers, pool, controls, access, network } = this.parts;
    const lists = permissions.reload();
    if (!lists.ok) return lists;
    const before = access.now;
    // Servers that are off stay off.
    access.now = settings;
    const levels = levelChanges(logger, settings.logging);
    const changes = [
      ...describeLevels(levels),
      ...lists.value.map(({ key, added, removed }) => `${key}: ${added} added, ${removed} removed`),
      ...(network === undefined || settings.peers === undefined
        ? []
        : namedPeers.replace(settings.peers.maintained, network)),
      ...accessChanges(settings, before),
      ...controls.configure(settings, pool),
    ];
    const isShownBefore = logger.isEnabled("info");
    if (isShownBefore) tell(changes);
    for (const { module, to } of levels) logger.changeLevel(to, [module]);
    if (!isShownBefore) tell(changes);
    return ok(undefined);
  }
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
