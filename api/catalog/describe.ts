import { families } from '../../domain/catalog/families.js';
import { catalogLimits } from '../../domain/catalog/limits.js';
import { templates } from '../../domain/catalog/templates.js';
import { listingQuery } from './routes.js';
import {
  bool,
  cents,
  count,
  exampleId,
  idOf,
  listOf,
  named,
  object,
  oneOf,
  orNull,
  text,
} from '../http/openapi/json-schema.js';
import { pageOf, type Operation } from '../http/openapi/operation.js';

const tag = 'Catalog';

const familyId = named('FamilyId', oneOf(families.map(({ id }) => id)));

const listing = named(
  'Listing',
  object({
    id: idOf('lst'),
    model: { type: 'string', description: 'Canonical model code.' },
    family: familyId,
    vramGb: count,
    gpuCount: { type: 'integer', enum: catalogLimits.gpuCounts },
    pricePerHourCents: cents('Of the whole machine.'),
    providerCode: text,
    region: { type: 'string', description: 'For people.' },
    regionCode: { type: 'string', description: 'Country or broad region.' },
    interconnect: text,
  }),
);

const family = named(
  'Family',
  object({
    family: familyId,
    models: listOf(text),
    fromPricePerHourCents: orNull(cents('Of the cheapest live listing.'), 'Null when there is none.'),
    liveCount: count,
  }),
);

const template = named(
  'Template',
  object({
    id: oneOf(templates.map(({ id }) => id)),
    name: text,
    description: text,
    isDefault: bool,
  }),
);

const exampleListing = {
  id: exampleId('lst'),
  model: 'RTX_4090',
  family: 'rtx-4090',
  vramGb: 24,
  gpuCount: 1,
  pricePerHourCents: 50,
  providerCode: 'acme',
  region: 'Oslo, Norway',
  regionCode: 'NO',
  interconnect: 'pcie',
};

export const catalogOperations: readonly Operation[] = [
  {
    method: 'get',
    path: '/v1/catalog/listings',
    name: 'listListings',
    tag,
    summary: 'What can be rented now, cheapest first',
    query: listingQuery,
    answers: [pageOf('listings', listing, exampleListing, 'A page of live listings.')],
    refusals: ['invalid_count'],
  },
  {
    method: 'get',
    path: '/v1/catalog/families',
    name: 'listFamilies',
    tag,
    summary: 'Every GPU family, with its cheapest price now',
    answers: [
      {
        description: 'All families, offered or not.',
        schema: object({ families: listOf(family) }),
        examples: [
          {
            families: [
              { family: 'rtx-4090', models: ['RTX_4090'], fromPricePerHourCents: 50, liveCount: 12 },
              { family: 'b200', models: ['B200'], fromPricePerHourCents: null, liveCount: 0 },
            ],
          },
        ],
      },
    ],
  },
  {
    method: 'get',
    path: '/v1/catalog/templates',
    name: 'listTemplates',
    tag,
    summary: 'What a machine can start with',
    answers: [
      {
        description: 'All templates.',
        schema: object({ templates: listOf(template) }),
        examples: [{ templates: templates.slice(0, 1).map((each) => ({ ...each, isDefault: true })) }],
      },
    ],
  },
];
