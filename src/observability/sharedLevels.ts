import { LOG_LEVELS, LOG_MODULES, type LogLevel, type LogModule } from "./levels.ts";

/** The level of each module, in memory that all threads read and the main thread changes. OFF at first. */
export class SharedLevels {
  readonly memory: SharedArrayBuffer;
  private readonly levels: Uint8Array;

  constructor(memory = new SharedArrayBuffer(LOG_MODULES.length)) {
    this.memory = memory;
    this.levels = new Uint8Array(memory);
  }

  get(module: LogModule): LogLevel {
    return LOG_LEVELS[Atomics.load(this.levels, LOG_MODULES.indexOf(module))] ?? "OFF";
  }

  set(module: LogModule, level: LogLevel): void {
    Atomics.store(this.levels, LOG_MODULES.indexOf(module), LOG_LEVELS.indexOf(level));
  }
}
