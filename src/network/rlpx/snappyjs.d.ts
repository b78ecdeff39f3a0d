/** The used part of the package, which has no types of its own. */
declare module "snappyjs" {
  export function compress(bytes: Uint8Array): Uint8Array;
}
