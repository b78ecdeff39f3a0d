import { describe, expect, it } from "vitest";
import { createLogger, type LoggingSettings, type RootLogger } from "../../src/observability/logger.ts";

function logged(settings: Partial<LoggingSettings>, say: (logger: RootLogger) => void): string {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  say(
    createLogger(
      { level: "INFO", moduleLevels: {}, format: "json", isColored: false, ...settings },
      destination,
    ),
  );
  return lines.join("");
}

describe("JSON lines", () => {
  it("carry the facts as fields: small amounts as numbers, large ones exact, bytes as hex, errors with their stack", () => {
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

  it("keep a fact that has the name of one of their own fields, under another name", () => {
    const facts = { code: "badGasUsed", message: "used 5 instead of 4", level: 3, class: "c", thread: 1 };
    const line = logged({}, (logger) =>
      logger.warn({ ...facts, timestamp: 9 }, "a proposed block is not sound"),
    );
    for (const name of ["message", "level", "class", "thread", "timestamp"])
      expect(line.split(`"${name}":`)).toHaveLength(2);
    expect(JSON.parse(line)).toMatchObject({
      level: "WARN",
      class: "node",
      message: "a proposed block is not sound",
      code: "badGasUsed",
      cause: "used 5 instead of 4",
      factLevel: 3,
      factClass: "c",
      factThread: 1,
      factTimestamp: 9,
    });
    const text = logged({ format: "text" }, (logger) => logger.warn(facts, "a proposed block is not sound"));
    expect(text).toContain('a proposed block is not sound code=badGasUsed cause="used 5 instead of 4"');
  });

  it.each([
    ["OFF", []],
    ["ERROR", ["error"]],
    ["WARN", ["error", "warn"]],
    ["INFO", ["error", "warn", "info"]],
    ["DEBUG", ["error", "warn", "info", "debug"]],
    ["TRACE", ["error", "warn", "info", "debug", "trace"]],
    ["ALL", ["error", "warn", "info", "debug", "trace"]],
  ] as const)("at %s show %j", (level, shown) => {
    const text = logged({ level }, (logger) => {
      for (const each of ["error", "warn", "info", "debug", "trace"] as const) {
        expect(logger.isShown(each)).toBe((shown as readonly string[]).includes(each));
        logger[each]({}, each);
      }
    });
    expect(messagesOf(text)).toEqual(shown);
  });
});

describe("levels of modules", () => {
  const saying = (logger: RootLogger): void => {
    logger.child("chain").info({}, "chain at info");
    logger.child("rpc").info({}, "rpc at info");
    logger.child("consensus").debug({}, "consensus at debug");
  };
  const settings = { moduleLevels: { rpc: "WARN", consensus: "DEBUG" } } as const;

  it("hold for those modules, the general level for the others", () => {
    expect(messagesOf(logged(settings, saying))).toEqual(["chain at info", "consensus at debug"]);
  });

  it("change while the program runs: for the modules named, else for all of them", () => {
    const text = logged(settings, (logger) => {
      const early = logger.child("rpc");
      logger.changeLevel("INFO", ["rpc"]);
      saying(logger);
      logger.changeLevel("ERROR");
      saying(logger);
      early.error({}, "rpc at error");
    });
    expect(messagesOf(text)).toEqual(["chain at info", "rpc at info", "consensus at debug", "rpc at error"]);
  });
});

describe("lines for people", () => {
  it("are laid out as the incumbent's, facts behind the sentence", () => {
    const text = logged({ format: "text" }, (logger) =>
      logger.child("chain").warn({ number: 7n, hash: Uint8Array.of(0xab), name: "a b" }, "block imported"),
    );
    expect(text).toMatch(
      /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}\+00:00 \| main \| WARN {2}\| chain \| block imported number=7 hash=0xab name="a b"\n$/,
    );
  });

  it("put the stack of an error on lines below", () => {
    const text = logged({ format: "text" }, (logger) =>
      logger.error({ error: new Error("disk on fire"), path: "/data" }, "the node ends"),
    );
    expect(text).toMatch(/\| node \| the node ends path=\/data\nError: disk on fire\n +at /);
  });

  it("color only when asked", () => {
    const say = (logger: RootLogger) => logger.info({}, "x");
    const colorCode = String.fromCharCode(27);
    expect(logged({ format: "text", isColored: true }, say)).toContain(colorCode);
    expect(logged({ format: "text", isColored: false }, say)).not.toContain(colorCode);
  });
});

function messagesOf(lines: string): string[] {
  return lines
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => (JSON.parse(line) as { message: string }).message);
}
