/** Thrown at the next step of a command after a request to stop. */
export class Stopped extends Error {
  override name = "Stopped";
}
