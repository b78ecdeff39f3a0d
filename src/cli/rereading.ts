import type { Configuration } from "../config/readSettings.ts";
import { rereadSettings } from "../config/rereadSettings.ts";
import type { LiveSettings } from "../node/liveSettings.ts";
import type { Logger } from "../observability/logger.ts";
import type { Clock, Timer } from "../primitives/clock.ts";

/** Reads the configuration of a running node again when it is asked to (operating.md#reread-the-configuration). */
export interface Rereading {
  /** Never throws. Requests are done at once, but those within a second of the last are one, done when it is over. */
  request(): void;
  /** Until then requests wait: a node that starts has nothing to change yet. */
  begin(live: LiveSettings): void;
  /** Ignores requests from now on. */
  close(): void;
}

const PAUSE_MS = 1000;
/** Warnings after a request. */
const MAX_WARNINGS = 10;
const MAX_PROBLEM_LENGTH = 2000;

export function createRereading(
  configuration: Configuration,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): Rereading {
  let live: LiveSettings | undefined;
  let isAsked = false;
  let isClosed = false;
  let pause: Timer | undefined;

  function run(): void {
    if (live === undefined || pause !== undefined || !isAsked || isClosed) return;
    isAsked = false;
    try {
      const problem = reread(live);
      if (problem !== undefined) logger.warn({}, refusal(problem));
    } catch (error) {
      logger.warn({ error }, "the configuration was not reread because of an internal error");
    }
    pause = clock.at(clock.nowMs() + PAUSE_MS, () => {
      pause = undefined;
      run();
    });
  }

  /** The problem, if there is one. */
  function reread(to: LiveSettings): string | undefined {
    const read = rereadSettings(configuration);
    if (!read.ok) return read.error.message;
    const applied = to.apply(read.value.settings, (changed) =>
      logger.info(
        { changed },
        changed.length === 0
          ? "the configuration was reread, and nothing of it changes"
          : "the configuration was reread",
      ),
    );
    if (!applied.ok) return applied.error.message;
    const known = new Set(configuration.settings.warnings);
    const warnings = [
      ...read.value.settings.warnings.filter((warning) => !known.has(warning)),
      ...read.value.awaitingRestart.map(
        ({ option, given }) => `--${option}, now given ${given}, takes effect at the next start`,
      ),
    ];
    for (const warning of warnings.slice(0, MAX_WARNINGS)) logger.warn({}, warning);
    const more = warnings.length - MAX_WARNINGS;
    if (more > 0) logger.warn({}, `${more} more warnings of the new configuration are not shown`);
    return undefined;
  }

  return {
    request() {
      isAsked = true;
      run();
    },
    begin(started) {
      live = started;
      run();
    },
    close() {
      isClosed = true;
      pause?.cancel();
    },
  };
}

function refusal(problem: string): string {
  const shown = problem.length > MAX_PROBLEM_LENGTH ? `${problem.slice(0, MAX_PROBLEM_LENGTH)}…` : problem;
  return `the configuration cannot be reread, and nothing of it changes: ${shown.replaceAll("\n", "; ")}`;
}
