import { createRequire } from "node:module";
import { dirname } from "node:path";
import { expectDefined } from "../../primitives/assert.ts";

/**
 * The package mcl-wasm set up for one curve: pairing-friendly curves in WebAssembly, about thirty times as fast as in
 * JavaScript. These are the functions of its module themselves, which take addresses in the module's memory: the
 * package's classes copy each operand in and out, and take points apart as text.
 *
 * Numbers of the field are in Montgomery form, with as many bits as limbs have. A point is three of them, x, y and z
 * (pairs of them in G2); z is one, or zero for the point at infinity.
 */
export interface Mcl {
  /** Bytes that a number takes, for all curves that the module was compiled for. */
  readonly fieldBytes: number;
  /** Bytes of `fieldBytes` that a number of this curve uses. */
  readonly numberBytes: number;
  readonly g1: Group;
  readonly g2: Group;
  readonly pairing: PairingFunctions;
  /** The memory as 32-bit words. Changes when the memory grows, which any other function may cause. */
  words(): Int32Array;
  /** Reserves memory for good. */
  allocate(bytes: number): number;
  /** The product in Montgomery form. */
  multiplyNumbers(product: number, a: number, b: number): void;
  negateNumber(result: number, number: number): void;
  /** The product of two numbers of the field's extension. */
  multiplyPairs(product: number, a: number, b: number): void;
  /** Sets a scalar, the bytes of which are big-endian in memory, modulo the order. */
  setScalar(scalar: number, bytes: number, length: number): void;
  /** Sets a number of the field to a small integer. */
  setNumber(number: number, value: number): void;
  /** The points of G1 and G2 that numbers of the field and of its extension map to (RFC 9380). */
  mapToG1(point: number, number: number): void;
  mapToG2(point: number, number: number): void;
  /** Reads a compressed point of G1 (48 bytes) without a check of its order; returns 0 if it is not a point. */
  decompress(point: number, bytes: number, length: number): number;
  /** Reads a compressed point of G2 (96 bytes), like `decompress`. */
  decompress2(point: number, bytes: number, length: number): number;
}

/** Each function takes the address of the result first. Conditions are 0 or 1. */
export interface Group {
  readonly pointBytes: number;
  add(sum: number, a: number, b: number): void;
  subtract(difference: number, a: number, b: number): void;
  double(result: number, point: number): void;
  /** Makes z one or zero. */
  normalize(result: number, point: number): void;
  clear(point: number): void;
  isZero(point: number): number;
  /** Whether the point is on the curve. */
  isValid(point: number): number;
  /** Whether a point on the curve has the order of the group. */
  isValidOrder(point: number): number;
  /** The sum of points, each multiplied with a scalar. */
  multiplySum(sum: number, points: number, scalars: number, count: number): void;
}

interface PairingFunctions {
  /** The product of the pairings of points from two lists, before the final exponentiation. */
  millerLoops(product: number, points: number, points2: number, count: number): void;
  precompute(prepared: number, point2: number): void;
  preparedBytes(): number;
  /** The product of the pairings of two pairs with prepared points of G2, before the final exponentiation. */
  millerLoop2(product: number, point: number, prepared: number, other: number, otherPrepared: number): void;
  multiply(product: number, a: number, b: number): void;
  finish(result: number, product: number): void;
  setNumber(result: number, value: number): void;
  isOne(product: number): number;
}

type CurveName = "BN_SNARK1" | "BLS12_381";

/**
 * The package set up for one curve, loaded on first use: few chains ever need it. The package keeps its curve in a
 * module variable, so each curve gets its own copy of the module.
 */
export function loadMcl(curve: CurveName): Promise<Mcl> {
  let loading = copies.get(curve);
  if (loading === undefined) {
    loading = loadCopy(curve);
    copies.set(curve, loading);
  }
  return loading;
}

const copies = new Map<CurveName, Promise<Mcl>>();

/** Like loadMcl, but always returns a new copy. */
export async function loadCopy(curve: CurveName): Promise<Mcl> {
  const require = createRequire(import.meta.url);
  // The package's types lack the module.
  const mcl = require("mcl-wasm") as typeof import("mcl-wasm") & { readonly mod: Module };
  const folder = dirname(require.resolve("mcl-wasm"));
  for (const path of Object.keys(require.cache)) if (path.startsWith(folder)) delete require.cache[path];
  await withFastDecoding(() => mcl.init(mcl[curve]));
  // Orders are checked where it matters, and only once.
  mcl.verifyOrderG1(false);
  mcl.verifyOrderG2(false);
  mcl.setMapToMode(mcl.IRTF);
  // Compressed points in the standard's encoding.
  mcl.setETHserialization(curve === "BLS12_381");
  return functionsOf(mcl.mod, curve === "BN_SNARK1" ? 32 : FIELD_BYTES);
}

const FIELD_BYTES = 48;

interface Module {
  readonly HEAP32: Int32Array;
  readonly _malloc: (bytes: number) => number;
}
type Operation = (...operands: readonly number[]) => number;

function functionsOf(module: Module, numberBytes: number): Mcl {
  const named = (name: string): Operation =>
    expectDefined(Reflect.get(module, `_mclBn${name}`) as Operation | undefined, name);
  const group = (name: "G1" | "G2"): Group => ({
    pointBytes: 3 * FIELD_BYTES * (name === "G1" ? 1 : 2),
    add: named(`${name}_add`),
    subtract: named(`${name}_sub`),
    double: named(`${name}_dbl`),
    normalize: named(`${name}_normalize`),
    clear: named(`${name}_clear`),
    isZero: named(`${name}_isZero`),
    isValid: named(`${name}_isValid`),
    isValidOrder: named(`${name}_isValidOrder`),
    multiplySum: named(`${name}_mulVec`),
  });
  const words = named("_getUint64NumToPrecompute");
  return {
    fieldBytes: FIELD_BYTES,
    numberBytes,
    g1: group("G1"),
    g2: group("G2"),
    pairing: {
      millerLoops: named("_millerLoopVec"),
      precompute: named("_precomputeG2"),
      preparedBytes: () => 8 * words(),
      millerLoop2: named("_precomputedMillerLoop2"),
      multiply: named("GT_mul"),
      finish: named("_finalExp"),
      setNumber: named("GT_setInt32"),
      isOne: named("GT_isOne"),
    },
    words: () => module.HEAP32,
    allocate: (bytes) => module._malloc(bytes),
    multiplyNumbers: named("Fp_mul"),
    negateNumber: named("Fp_neg"),
    multiplyPairs: named("Fp2_mul"),
    setScalar: named("Fr_setBigEndianMod"),
    setNumber: named("Fp_setInt32"),
    mapToG1: named("Fp_mapToG1"),
    mapToG2: named("Fp2_mapToG2"),
    decompress: named("G1_deserialize"),
    decompress2: named("G2_deserialize"),
  };
}

/**
 * The package decodes 436 KB of WebAssembly from text with a function call per byte: 40 of the 50 ms for which loading
 * blocks the thread. Patches that call while the synchronous part of `begin` runs, so that a text is decoded in one go.
 */
function withFastDecoding<T>(begin: () => T): T {
  const { from } = Uint8Array;
  const fromText = (source: unknown, ...rest: unknown[]): Uint8Array =>
    typeof source === "string" && source.length > LONG_TEXT
      ? Buffer.from(source, "latin1")
      : Reflect.apply(from, Uint8Array, [source, ...rest]);
  Object.assign(Uint8Array, { from: fromText });
  try {
    return begin();
  } finally {
    Object.assign(Uint8Array, { from });
  }
}

const LONG_TEXT = 100_000;
