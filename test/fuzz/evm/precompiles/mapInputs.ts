import { concatBytes } from "../../../../src/primitives/hex.ts";
import { bigintToFixedBytes } from "../../../../src/primitives/quantity.ts";
import type { Random } from "../../../storage/random.ts";
import { chance, pick } from "../draws.ts";
import { fieldNumber } from "./pointEncodings.ts";
import { BLS12_G1, type Numbers } from "./pointGroups.ts";

/** A number of the field, or two for its extension, that is mapped to a point of BLS12-381 (0x10, 0x11). */
export function mapped(count: 1 | 2): (random: Random) => Uint8Array {
  return (random) => {
    const special = pick(random, count === 1 ? TO_INFINITY : TO_INFINITY_2);
    const numbers = chance(random, 25) ? mirrored(random, special) : anyNumbers(random, count);
    return concatBytes(...numbers.map((number) => bigintToFixedBytes(BigInt.asUintN(512, number), 64)));
  };
}

const { modulus, numberBytes } = BLS12_G1;
const MODULUS_BYTES = 48;

/** The point is mirrored with its number. */
function mirrored(random: Random, numbers: Numbers): Numbers {
  return chance(random, 50) ? numbers : numbers.map((number) => (number === 0n ? number : modulus - number));
}

function anyNumbers(random: Random, count: number): Numbers {
  return Array.from({ length: count }, () => {
    if (chance(random, 12)) return fieldNumber(random, modulus, numberBytes);
    const number = fieldNumber(random, modulus, MODULUS_BYTES);
    return chance(random, 10) ? number : number % modulus;
  });
}

/**
 * Numbers with cases of their own in the map to G1 (RFC 9380): with the first, a root of -1 / 11, as with zero, a denominator
 * is zero; with the others the curve of the map gets a point of order 11 (the first two of them in the kernel of its isogeny),
 * 10,177, 859,267 or 52,437,899, of which nothing is left when the cofactor is cleared.
 */
const TO_INFINITY: readonly Numbers[] = [
  [0n],
  [0x01f7462c8b6cbf74db38f4a9a3d71bda12f01df4948d09ff046edbdd403fc31088b69520ee5c57fb7cc51062bde821b8n],
  [0x1377c0192d99508a317127abf17c64205c7aad448380027efb47ae73ea231dbd6ecd3f2841b63d309c35bb8fd13e48f0n],
  [0x0854a3cb180882d5b1efc1c3cc5b3fb33b27cb739f1389986ca46e1c5cb5010d8a06fd781c63074868f316d95b8f8405n],
  [0x146850b3bdc2495ed73bb803dfaa951a88abff0acb5c7aeac52b48f3c808e87ce3885b98ce916e17caef21a6cbc6b598n],
  [0x10683009c00edc5676a3d43b8b5ae8a68e75a32954f6a502e6acc1c11ed49bcaa7c843871e887ce9839920c2ff0f732fn],
  [0x0f034e8acb3ae45a57b6a0552facaad95ec45ab57f351d6dec83d7523147a46eab690797632637342167bb28384a01c0n],
  [0x106dcd8ab46e52503252829691abd11a70738ab668b6ba97809e3dc3006fe377b92fd36606968b72ed9270b1a25086b6n],
  [0x098c136b321c23b094f729bae7016954e9cd682ec429498f20e4d7e6f9c3199385b94a40fd987f3e5bf0fb1ff065d78fn],
];

/** The same for G2: points of the orders 13, 23, 2,713, 11,953 and 262,069. */
const TO_INFINITY_2: readonly Numbers[] = [
  [0n, 0n],
  [
    0x19ea22d5f1eb39d2caee31e46193d58658cd5cd937277dfef5c38a4bd45759b6d3a7fb7e19840d64040ad40c3434f887n,
    0x0e511fa544798a16dc2d60f1a5b4598785bfaa5450a42ef007c8d99a7a3c845fb3720cc52e2e4a60dfb9aedee9ba6e48n,
  ],
  [
    0x03444266e54876949577bf6a77e95f2ae35afb0a93319a815d31c540bdb062eabed9c1836b2668727ca7b4f7f05eba88n,
    0x17808a6b6d6f90ec40747b2efe3291c350c1774ea991128dfe0bae16b86909d70635b5ab1ba3c186ac7ade47c170d926n,
  ],
  [
    0x0dade890ec2d2af860be9ad211b0c522e2dc6be9b7a94cb2deb1f22690f84dc348bcebd4ce5310c1d82ce9008381d2fen,
    0x1242a7386fd73045dc1f000c6705e6d32110351bb33effc07934e406e9361c0c9d44f2cee414f0a2a25b0de6c8a1e71en,
  ],
  [
    0x10ad58bd9fef99ee66b5c81f1360c0f566ed23f7302f12cd2ba185fafe664e53af3e988df4a3e83c173da17d0c10feb0n,
    0x14768dc1336262b0b1763ad33166f2aafab8024297931257d9df3a68b39f6d7254e89a6f99fbe6e84d10bcc5fa200dacn,
  ],
  [
    0x095143f31e3b1db3628755336b317d7998e878f7513444b2e378556730dbcb048dc16b50b509f88528febc8b3baad806n,
    0x13a94903d6fea1d93895faeb37165901d64c4881514d2199a4de1affcf987d7876922239c46ca4b65923e461fb54bb24n,
  ],
];
