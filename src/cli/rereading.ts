import type { Configuration } from "../config/readSettings.ts";
import { rereadSettings } from "../config/rereadSettings.ts";
import type { LiveSettings } from "../node/settings/liveSettings.ts";
import type { Logger } from "../observability/logger.ts";
import type { Clock, Timer } from "../primitives/clock.ts";

const PAUSE_MS = 1000;
/** Most warnings after a request. */
const MAX_WARNINGS = 10;
const MAX_PROBLEM_LENGTH = 2000;

/** Rereads the configuration of a running node on request (operating.md#reread-the-configuration). */
export class Rereading {
  private readonly configuration: Configuration;
  private readonly parts: { readonly clock: Clock; readonly logger: Logger };
  private live: Pick<LiveSettings, "apply"> | undefined;
  private isAsked = false;
  private isClosed = false;
  private pause: Timer | undefined;

  constructor(configuration: Configuration, parts: { readonly clock: Clock; readonly logger: Logger }) {
    this.configuration = configuration;
    this.parts = parts;
  }

  /**
   * Requests a reread. Never throws. It happens at once, but requests within a second of the last one are merged, and done
   * when it is over.
   */
  request(): void {
    this.isAsked = true;
    this.run();
  }

  /** Performs requests that have waited until now: a starting node has nothing to change yet. */
  begin(started: Pick<LiveSettings, "apply">): void {
    this.live = started;
    this.run();
  }

  /** Ignores requests from now on. */
  close(): void {
    this.isClosed = true;
    this.pause?.cancel();
  }

  private run(): void {
    if (this.live === undefined || this.pause !== undefined || !this.isAsked || this.isClosed) return;
    this.isAsked = false;
    try {
      const problem = this.reread(this.live);
      if (problem !== undefined) this.parts.logger.warn({}, refusal(problem));
    } catch (error) {
      this.parts.logger.warn({ error }, "the configuration was not reread because of an internal error");
    }
    this.pause = this.parts.clock.at(this.parts.clock.nowMs() + PAUSE_MS, () => {
      this.pause = undefined;
      this.run();
    });
  }

  /** Rereads the configuration; returns the problem, if there is one. */
  private reread(to: Pick<LiveSettings, "apply">): string | undefined {
    const read = rereadSettings(this.configuration);
    if (!read.ok) return read.error.message;
    const applied = to.apply(read.value.settings, (changed) =>
      this.parts.logger.info(
        { changed },
        changed.length === 0
          ? "the configuration was reread; nothing changes"
          : "the configuration was reread",
      ),
    );
    if (!applied.ok) return applied.error.message;
    const known = new Set(this.configuration.settings.warnings);
    const warnings = [
      ...read.value.settings.warnings.filter((warning) => !known.has(warning)),
      ...read.value.awaitingRestart.map(
        ({ option, given }) => `--${option}, now given ${given}, takes effect at the next start`,
      ),
    ];
    for (const warning of warnings.slice(0, MAX_WARNINGS)) this.parts.logger.warn({}, warning);
    const more = warnings.length - MAX_WARNINGS;
    if (more > 0) this.parts.logger.warn({}, `${more} more warnings of the new configuration are not shown`);
    return undefined;
  }
}

function refusal(problem: string): string {
  const shown = problem.length > MAX_PROBLEM_LENGTH ? `${problem.slice(0, MAX_PROBLEM_LENGTH)}…` : problem;
  return `the configuration cannot be reread; nothing changes: ${shown.replaceAll("\n", "; ")}`;
}
