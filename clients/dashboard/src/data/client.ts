import { GpuRental, plainAnswer } from '@gpu-rental/client';

/** Where the API is: where the page comes from, unless the build names another origin. */
export const apiOrigin: string = import.meta.env.VITE_API_URL ?? location.origin;

/** The API, as whoever this browser's cookie says. Reads are repeated by the client itself. */
export const api = new GpuRental({ baseUrl: apiOrigin, onAnswer: plainAnswer });
