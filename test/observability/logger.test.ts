import { closeSync, existsSync, openSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  createLogger,
  type LoggingSettings,
  outputTo,
  type RootLogger,
} from "../../src/observability/logger.ts";

function logged(settings: Partial<LoggingSettings>, log: (logger: RootLogger) => void): string {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  log(
    createLogger(
      { level: "INFO", moduleLevels: {}, format: "json", isColored: false, ...settings },
      destination,
    ),
  );
  return lines.join("");
}

describe("JSON lines", () => {
  it("have the facts as fields: small amounts as numbers, large ones exact, bytes as hex, errors with their stack", () => {
    const line = logged({}, (logger) =>
      logger.child("chain").info(
        {
          number: 7n,
          reward: 10n ** 20n,
          hash: Uint8Array.of(0xab, 0xcd),
          peers: [{ height: 3n }],
          error: new Error("disk on fire", { cause: new Error("sparks") }),
        },
        "block imported",
      ),
    );
    expect(JSON.parse(line)).toEqual({
      level: "INFO",
      thread: "main",
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      class: "chain",
      number: 7,
      reward: "100000000000000000000",
      hash: "0xabcd",
      peers: [{ height: 3 }],
      throwable: expect.stringMatching(/^Error: disk on fire\n +at .*caused by: Error: sparks/s),
      message: "block imported",
    });
  });

  it("rename a fact that is named like one of their own fields", () => {
    const facts = { code: "badGasUsed", message: "used 5 instead of 4", level: 3, class: "c", thread: 1 };
    const line = logged({}, (logger) =>
      logger.warn({ ...facts, timestamp: 9 }, "a proposed block is invalid"),
    );
    for (const name of ["message", "level", "class", "thread", "timestamp"])
      expect(line.split(`"${name}":`)).toHaveLength(2);
    expect(JSON.parse(line)).toMatchObject({
      level: "WARN",
      class: "node",
      message: "a proposed block is invalid",
      code: "badGasUsed",
      cause: "used 5 instead of 4",
      factLevel: 3,
      factClass: "c",
      factThread: 1,
      factTimestamp: 9,
    });
    const text = logged({ format: "text" }, (logger) => logger.warn(facts, "a proposed block is invalid"));
    expect(text).toContain('a proposed block is invalid code=badGasUsed cause="used 5 instead of 4"');
  });

  it.each([
    ["OFF", []],
    ["ERROR", ["error"]],
    ["WARN", ["error", "warn"]],
    ["INFO", ["error", "warn", "info"]],
    ["DEBUG", ["error", "warn", "info", "debug"]],
    ["TRACE", ["error", "warn", "info", "debug", "trace"]],
    ["ALL", ["error", "warn", "info", "debug", "trace"]],
  ] as const)("at level %s include %j", (level, included) => {
    const text = logged({ level }, (logger) => {
      for (const each of ["error", "warn", "info", "debug", "trace"] as const) {
        expect(logger.isEnabled(each)).toBe((included as readonly string[]).includes(each));
        logger[each]({}, each);
      }
    });
    expect(messagesOf(text)).toEqual(included);
  });
});

describe("levels of modules", () => {
  const logSome = (logger: RootLogger): void => {
    logger.child("chain").info({}, "chain at info");
    logger.child("rpc").info({}, "rpc at info");
    logger.child("consensus").debug({}, "consensus at debug");
  };
  const settings = { moduleLevels: { rpc: "WARN", consensus: "DEBUG" } } as const;

  it("apply to those modules, the general level to the others", () => {
    expect(messagesOf(logged(settings, logSome))).toEqual(["chain at info", "consensus at debug"]);
  });

  it("change at run time: for the given modules, or for all", () => {
    const text = logged(settings, (logger) => {
      const early = logger.child("rpc");
      logger.changeLevel("INFO", ["rpc"]);
      logSome(logger);
      logger.changeLevel("ERROR");
      logSome(logger);
      early.error({}, "rpc at error");
    });
    expect(messagesOf(text)).toEqual(["chain at info", "rpc at info", "consensus at debug", "rpc at error"]);
  });
});

describe("text lines", () => {
  it("have Besu's layout, with facts after the message", () => {
    const text = logged({ format: "text" }, (logger) =>
      logger.child("chain").warn({ number: 7n, hash: Uint8Array.of(0xab), name: "a b" }, "block imported"),
    );
    expect(text).toMatch(
      /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}\+00:00 \| main \| WARN {2}\| chain \| block imported number=7 hash=0xab name="a b"\n$/,
    );
  });

  it("put the stack of an error on the lines below", () => {
    const text = logged({ format: "text" }, (logger) =>
      logger.error({ error: new Error("disk on fire"), path: "/data" }, "the node ends"),
    );
    expect(text).toMatch(/\| node \| the node ends path=\/data\nError: disk on fire\n +at /);
  });

  it("have colors only when enabled", () => {
    const log = (logger: RootLogger) => logger.info({}, "x");
    const colorCode = String.fromCharCode(27);
    expect(logged({ format: "text", isColored: true }, log)).toContain(colorCode);
    expect(logged({ format: "text", isColored: false }, log)).not.toContain(colorCode);
  });
});

function messagesOf(lines: string): string[] {
  return lines
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => (JSON.parse(line) as { message: string }).message);
}

describe("a text of an outsider in a text line", () => {
  it("neither ends the line nor steers the terminal", () => {
    const facts = {
      bell: "a\u001b[2Jb",
      csi: "a\u009b2Jb",
      right: "a\u202eb",
      line: "a\nb",
      separator: ["\u2028"],
    };
    const line = logged({ format: "text" }, (logger) => logger.info(facts, "one\ntwo\u001b[2J"));
    expect(line).toMatch(/ \| one\\u000atwo\\u001b\[2J bell=/);
    expect(line).toContain(
      'bell=a\\u001b[2Jb csi=a\\u009b2Jb right=a\\u202eb line="a\\nb" separator=["\\u2028"]\n',
    );
  });
});

describe("an output that cannot be written", () => {
  it.runIf(existsSync("/dev/full"))("takes no more than some megabytes of memory", () => {
    const full = openSync("/dev/full", "w");
    const output = outputTo(full);
    const line = `${"x".repeat(1023)}\n`;
    // Unbound, all of these wait to be written.
    for (let count = 0; count < 100 * 1024; count++) output.write(line);
    expect((output as unknown as { readonly _len: number })._len).toBeLessThanOrEqual(4 * 1024 ** 2);
    closeSync(full);
  });
});
