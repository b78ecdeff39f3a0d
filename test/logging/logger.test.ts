import { describe, expect, it } from "vitest";
import { createLogger, type LoggingSettings } from "../../src/logging/logger.ts";

function logged(
  settings: Partial<LoggingSettings>,
  say: (logger: ReturnType<typeof createLogger>) => void,
): string {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  say(createLogger({ level: "INFO", format: "json", isColored: false, ...settings }, destination));
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
          error: new Error("disk on fire"),
        },
        "block imported",
      ),
    );
    expect(JSON.parse(line)).toEqual({
      level: "INFO",
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      module: "chain",
      number: 7,
      reward: "100000000000000000000",
      hash: "0xabcd",
      peers: [{ height: 3 }],
      error: {
        type: "Error",
        message: "disk on fire",
        stack: expect.stringContaining("Error: disk on fire\n"),
      },
      message: "block imported",
    });
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
    const lines = text.split("\n").filter((line) => line !== "");
    expect(lines.map((line) => (JSON.parse(line) as { message: string }).message)).toEqual(shown);
  });
});

describe("lines for people", () => {
  it("hold time, level, module, sentence and facts in one line", () => {
    const text = logged({ format: "readable" }, (logger) =>
      logger.child("chain").warn({ number: 7n, hash: Uint8Array.of(0xab) }, "block imported"),
    );
    expect(text).toMatch(
      /^\[\d\d:\d\d:\d\d\.\d{3}\] WARN: chain: block imported \{"number":7,"hash":"0xab"\}\n$/,
    );
  });

  it("color only when asked", () => {
    const say = (logger: ReturnType<typeof createLogger>) => logger.info({}, "x");
    const colorCode = String.fromCharCode(27);
    expect(logged({ format: "readable", isColored: true }, say)).toContain(colorCode);
    expect(logged({ format: "readable", isColored: false }, say)).not.toContain(colorCode);
  });
});
