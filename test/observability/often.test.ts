import { describe, expect, it } from "vitest";
import type { LogLevel } from "../../src/observability/levels.ts";
import { createLogger } from "../../src/observability/logger.ts";
import { createHandClock } from "../builders/handClock.ts";

function logging(level: LogLevel) {
  const lines: Record<string, unknown>[] = [];
  const clock = createHandClock(0);
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  const settings = { level, moduleLevels: {}, format: "json", isColored: false } as const;
  return { logger: createLogger(settings, destination, clock), lines, clock };
}

describe("lines that outsiders can provoke", () => {
  it("are a hundred in ten seconds at DEBUG, and then their number", () => {
    const { logger, lines, clock } = logging("DEBUG");
    for (let count = 0; count < 1334; count++)
      logger.child("rpc").often("debug", "refused", () => ({ count }));
    expect(lines).toHaveLength(100);
    clock.advanceTo(9_999);
    expect(lines).toHaveLength(100);
    clock.advanceTo(10_000);
    expect(lines).toHaveLength(101);
    expect(lines.at(-1)).toMatchObject({
      level: "DEBUG",
      class: "rpc",
      more: 1234,
      message: "refused (and 1,234 more in ten seconds)",
    });
    logger.child("rpc").often("debug", "refused", () => ({ count: "again" }));
    expect(lines.at(-1)).toMatchObject({ message: "refused", count: "again" });
  });

  it("are all logged when they are few in any ten seconds", () => {
    const { logger, lines, clock } = logging("DEBUG");
    for (let count = 0; count < 500; count++) {
      logger.often("debug", "refused", () => ({ count }));
      clock.advanceBy(101);
    }
    expect(lines).toHaveLength(500);
  });

  it("do not take the place of others", () => {
    const { logger, lines } = logging("DEBUG");
    for (let count = 0; count < 200; count++) logger.often("debug", "refused", () => ({}));
    logger.often("debug", "dropped", () => ({}));
    logger.child("rpc").often("debug", "refused", () => ({}));
    expect(lines).toHaveLength(102);
  });

  it("are fifty times as many at TRACE", () => {
    const { logger, lines } = logging("TRACE");
    for (let count = 0; count < 6_000; count++) logger.often("trace", "received", () => ({}));
    expect(lines).toHaveLength(5_000);
  });

  it("are ten at ERROR, each with its error, which status shows, too", () => {
    const { logger, lines, clock } = logging("ERROR");
    for (let count = 0; count < 50; count++)
      logger.child("rpc").often("error", "failed", () => ({ error: new Error(`number ${count}`) }));
    clock.advanceTo(10_000);
    expect(lines.map(({ message }) => message)).toEqual([
      ...Array.from({ length: 10 }, () => "failed"),
      "failed (and 40 more in ten seconds)",
    ]);
    expect(JSON.stringify(lines[0])).toContain("number 0");
    expect(logger.recentWarnings().map(({ message }) => message)).toContain("failed");
  });

  it("cost no facts when they are not logged", () => {
    const { logger, lines } = logging("INFO");
    const fail = (): never => {
      throw new Error("asked");
    };
    logger.often("debug", "refused", fail);
    logger.often("trace", "refused", fail);
    logger.changeLevel("DEBUG");
    for (let count = 0; count < 100; count++) logger.often("debug", "refused", () => ({}));
    logger.often("debug", "refused", fail);
    expect(lines).toHaveLength(100);
  });

  it("have texts of a few hundred characters", () => {
    const { logger, lines } = logging("DEBUG");
    logger.often("debug", "refused", () => ({ reason: "x".repeat(10_000) }));
    expect(lines[0]?.["reason"]).toBe(`${"x".repeat(300)}…`);
  });
});
