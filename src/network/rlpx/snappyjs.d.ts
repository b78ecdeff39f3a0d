/** The part of the package in use; it has no types of its own. */
declare module "snappyjs" {
  export function compress(bytes: Uint8Array): Uint8Array;
}
