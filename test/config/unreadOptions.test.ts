import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { OPTION_NAMES, optionNamed } from "../../src/config/options.ts";

const src = join(import.meta.dirname, "../../src");

/** Options whose only value matches the node's behaviour. */
const ONE_VALUE = ["security-module"];

it("reads every option that has an effect", () => {
  const text = readdirSync(src, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts") && !path.startsWith(join("config", "options")))
    .map((path) => readFileSync(join(src, path), "utf8"))
    .join("\n");
  const isRead = (name: string) => text.includes(`"${name}"`) || new RegExp(`values\\.${name}\\b`).test(text);
  const unread = OPTION_NAMES.filter((name) => {
    const { noEffect, refusedWhenOn } = optionNamed(name);
    return noEffect === undefined && refusedWhenOn === undefined && !isRead(name);
  });
  expect(unread).toEqual(ONE_VALUE);
});
