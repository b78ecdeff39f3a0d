import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { apiGroupsType } from "../../src/config/apiGroups.ts";
import { logLevelType } from "../../src/config/options/logLevel.ts";
import {
  addressType,
  bigintType,
  bytesType,
  choiceType,
  decimalType,
  integerType,
  openListType,
  percentType,
  portType,
  positiveType,
  switchType,
  textListType,
  textType,
  type ValueType,
  weiType,
} from "../../src/config/valueTypes.ts";

function read<T>(type: ValueType<T>, text: string): T | string {
  const outcome = type.read(text);
  return outcome.ok ? outcome.value : `refused: ${outcome.error.message}`;
}

describe("a value type", () => {
  it.each<[ValueType<unknown>, string, unknown]>([
    [switchType, "TRUE", true],
    [switchType, "false", false],
    [switchType, "1", "refused: '1' is not a boolean"],
    [portType, "8545", 8545],
    [portType, "0", 0],
    [portType, "65536", "refused: '65536' is above 65535"],
    [portType, "-1", "refused: '-1' is below 0"],
    [portType, "abc", "refused: 'abc' is not an int"],
    [portType, "0x10", "refused: '0x10' is not an int"],
    [portType, "", "refused: '' is not an int"],
    [portType, "1.5", "refused: '1.5' is not an int"],
    [integerType({ label: "<N>" }), "2147483647", 2147483647],
    [integerType({ label: "<N>" }), "2147483648", "refused: '2147483648' is above 2147483647"],
    [integerType({ label: "<N>", min: -1n }), "-1", -1],
    [bigintType({ label: "<N>" }), "100_000", 100_000n],
    [bigintType({ label: "<N>" }), "123456789012345678901234567890", 123456789012345678901234567890n],
    [bigintType({ label: "<N>" }), "1 ether", "refused: '1 ether' is not a long"],
    [bigintType({ label: "<N>", max: 5n }), "6", "refused: '6' is above 5"],
    [weiType, "0x1", "refused: cannot convert '0x1' to Wei (it is not a whole number)"],
    [
      positiveType({ label: "<N>", unit: "things" }),
      "-4",
      "refused: cannot convert '-4' to PositiveNumber (it is below 1)",
    ],
    [percentType, "101", "refused: cannot convert '101' to Percentage (it is above 100)"],
    [decimalType({ label: "<N>", min: 0, max: 100 }), "50.0", 50],
    [decimalType({ label: "<N>", min: 0, max: 100 }), ".5", 0.5],
    [decimalType({ label: "<N>", min: 0, max: 100 }), "NaN", "refused: 'NaN' is not a double"],
    [decimalType({ label: "<N>", min: 0, max: 1 }), "1.1", "refused: '1.1' is not between 0 and 1"],
    [choiceType(["FULL", "FAST"]), "full", "FULL"],
    [
      choiceType(["FULL", "FAST"]),
      "x",
      "refused: expected one of [FULL, FAST] (case-insensitive) but was 'x'",
    ],
    [textType({ label: "<T>", accepts: "text" }), " ", "refused: it is empty"],
    [addressType, `0x${"1".repeat(39)}`, `refused: '0x${"1".repeat(39)}' is not an address`],
    [addressType, "11".repeat(20), Uint8Array.from({ length: 20 }, () => 0x11)],
    [bytesType({ maxBytes: 2 }), "0x0102", Uint8Array.of(1, 2)],
    [bytesType({ maxBytes: 2 }), "0x010203", "refused: '0x010203' has 3 bytes, more than 2"],
    [bytesType({ maxBytes: 2 }), "zz", "refused: 'zz' is not hexadecimal bytes"],
    [textListType, "a, b,c", ["a", "b", "c"]],
    [textListType, "", []],
    [textListType, "a,,b", "refused: it is empty"],
    [openListType("Hostname"), "all", ["*"]],
    [openListType("Hostname"), "*", ["*"]],
    [openListType("Hostname"), "none", []],
    [openListType("Hostname"), "a.org, b.org", ["a.org", "b.org"]],
    [openListType("Hostname"), "a,*", "refused: Values '*' or 'all' can't be used with other hostnames"],
    [openListType("Domain"), "none,a", "refused: Value 'none' can't be used with other domains"],
    [openListType("Hostname"), "a,,b", "refused: Hostname cannot be empty string or null string."],
    [apiGroupsType, "ETH, NET,ETH", ["ETH", "NET"]],
    [apiGroupsType, "ETH,BOB,eth", "refused: invalid entries found [BOB, eth]"],
    [logLevelType, "debug", "DEBUG"],
    [logLevelType, "fatal", "ERROR"],
    [logLevelType, "LOUD", "refused: Unknown logging value: LOUD"],
  ])("%#: %j reads %j", (type, text, expected) => {
    expect(read(type, text)).toEqual(expected);
  });

  it("reads back what it shows", () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n }),
        fc.boolean(),
        fc.uint8Array({ maxLength: 32 }),
        (number, flag, bytes) => {
          const wei = bigintType({ label: "<N>" });
          const hex = bytesType({ maxBytes: 32 });
          expect(read(wei, wei.show(number))).toBe(number);
          expect(read(switchType, switchType.show(flag))).toBe(flag);
          expect(read(hex, hex.show(bytes))).toEqual(bytes);
        },
      ),
    );
  });
});
